// Loops over constants: what they index stays in registers, which an unrolled loop does not
// promise.
#pragma once
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/simd.inl"

#define AFT_LAMBDA __attribute__((always_inline))

namespace aft::ops::cpu::AFT_CPU {

template <int i>
struct Index {
    constexpr operator int() const { return i; }  // NOLINT: a number
};

// f(Index<0>()), ..., f(Index<n - 1>())
template <int n, class F>
AFT_INLINE void each(const F& f) {
    if constexpr (n > 0) {
        each<n - 1>(f);
        f(Index<n - 1>());
    }
}

// f(Index<count>(), row, tile, tiles): all rows in tiles of at most `most`, of nearly one height.
template <int most, class F>
AFT_INLINE void for_row_tiles(int64_t rows, const F& f) {
    const int64_t tiles = (rows + most - 1) / most;
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t row = rows * tile / tiles, count = rows * (tile + 1) / tiles - row;
        each<most>([&](auto i) AFT_LAMBDA {
            if (count == i + 1) f(Index<i + 1>(), row, tile, tiles);
        });
    }
}

// g(Index<lines>(), first): at each of `steps` steps of 4 cache lines a tile prefetches `lines`
// lines of the next panel, from the quarter `first` on. It pays where a thread reads all panels and
// its products take longer than they.
template <class G>
AFT_INLINE void with_prefetch(int64_t tile, int64_t tiles, const G& g) {
    if (tiles < 2) return g(Index<0>(), int64_t{0});
    if (tiles < 4) return g(Index<2>(), tile % 2 * 2);
    g(Index<1>(), tile % 4);
}
template <int lines>
AFT_INLINE void prefetch(const uint32_t* prefetch_from) {
    each<lines>([&](auto i) AFT_LAMBDA {
        _mm_prefetch(reinterpret_cast<const char*>(prefetch_from + 16 * i), _MM_HINT_T1);
    });
}

// f(Index<rows>(), Index<lines>(), spot): the rows of every panel in tiles. words: of a panel.
struct Spot {  // of a tile, and what it prefetches
    int64_t panel, row;
    const uint32_t* prefetch_from;
};
template <int most, class F>
AFT_INLINE void for_panel_tiles(const DecodeProduct& p, int64_t words, const F& f) {
    const auto* const w = static_cast<const uint32_t*>(p.matrix.weights);
    for (int64_t panel = p.begin; panel < p.end; ++panel) {
        const uint32_t* next = w + (panel + 1) * words;
        for_row_tiles<most>(
            p.rows, [&](auto count, int64_t row, int64_t tile, int64_t tiles) AFT_LAMBDA {
                with_prefetch(tile, p.prefetches ? tiles : 1,
                              [&](auto lines, int64_t first) AFT_LAMBDA {
                                  f(count, lines, Spot{panel, row, next + first * words / 4});
                              });
            });
    }
}

}  // namespace aft::ops::cpu::AFT_CPU
