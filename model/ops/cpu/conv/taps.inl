// The taps of aft-conv: a tile of targets in one row of the grid, a row of sources at a time. One
// vector of channels; slide.inl has the formula (paper Eq. 6), numerics and measured shares.
// Included once per instruction set. Cost: 4 FLOP per tap inside the grid, position and channel, of
// numerator and denominator.
//
// A tile of N targets and one of N sources are in registers together: N^2 pairs, and each of their
// 2 N - 1 diagonals is one tap. So a tap's weight is loaded once for up to N multiply-adds, a
// source once for up to N taps, and what the window or the grid cuts off is never computed.
#pragma once
#include "model/ops/cpu/conv/arguments.h"
#include "model/ops/cpu/simd/simd.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
constexpr int kTapTile = 14;  // 2 kTapTile + 1 registers of 32
#elif defined(AFT_CPU_AVX2)
constexpr int kTapTile = 7;  // of 16
#else
constexpr int kTapTile = 6;  // of 16, products apart
#endif

template <int N>
struct TapTile {
    V x[N];
};

template <int N, int i = 0>
AFT_INLINE void load_tile(TapTile<N>& t, const float* p) {
    if constexpr (i < N) {
        t.x[i] = load(p + i * 2 * kLanes);
        load_tile<N, i + 1>(t, p);
    }
}
template <int N, int i = 0>
AFT_INLINE void load_tile(TapTile<N>& t, const float* p, int64_t count) {
    if constexpr (i < N) {
        t.x[i] = i < count ? load(p + i * 2 * kLanes) : set1(0);
        load_tile<N, i + 1>(t, p, count);
    }
}
template <int N, int i = 0>
AFT_INLINE void store_tile(const TapTile<N>& t, float* p, int64_t count) {
    if constexpr (i < N) {
        if (i >= count) return;
        store(p + i * 2 * kLanes, t.x[i]);
        store_tile<N, i + 1>(t, p, count);
    }
}

// sum[r] += a b[r + d] for all r of which both are in the tile
template <int N, int d, int r>
AFT_INLINE void diagonal(TapTile<N>& sum, const TapTile<N>& b, V a) {
    if constexpr (r < N && r + d < N) {
        sum.x[r] = fma(a, b.x[r + d], sum.x[r]);
        diagonal<N, d, r + 1>(sum, b, a);
    }
}
// Diagonals [first, last] of a pair of tiles; a: the weight of the next one.
struct Diagonals {
    int64_t first, last;
    const float* a;
    int64_t step;
};
template <int N, int d>
AFT_INLINE void diagonals(TapTile<N>& sum, const TapTile<N>& b, Diagonals& range) {
    if constexpr (d < N) {
        if (d >= range.first && d <= range.last) {
            diagonal<N, d, (d < 0 ? -d : 0)>(sum, b, load(range.a));
            range.a += range.step;
        }
        diagonals<N, d + 1>(sum, b, range);
    }
}

template <int N>
static void taps(const KernelTaps& m) {
    TapTile<N> sum, b;
    load_tile<N>(sum, m.sum, m.count);
    const auto low = [](int64_t x, int64_t y) { return x < y ? x : y; };
    const int64_t before = (low(m.left, m.x) + N - 1) / N * N;
    const int64_t end = low(m.x + m.count + m.right, m.width);
    for (int64_t row = 0; row < m.rows; ++row)
        for (int64_t j = m.x - before; j < end; j += N) {
            const int64_t away = j - m.x, count = low(N, m.width - j);
            const float* const from = m.b + row * m.b_row + j * 2 * kLanes;
            if (count == N)
                load_tile<N>(b, from);
            else
                load_tile<N>(b, from, count);
            const int64_t first = -low(m.left + away, m.count - 1);
            const int64_t last = low(m.right - away, count - 1);
            Diagonals range{first, last, m.a + row * m.a_row + (first + away) * m.a_step, m.a_step};
            diagonals<N, 1 - N>(sum, b, range);
        }
    store_tile<N>(sum, m.sum, m.count);
}

// By the size of the tile; [0] is not used.
#if defined(AFT_CPU_AVX512)
constexpr TapsFunction kTaps[] = {nullptr,  taps<1>,  taps<2>,  taps<3>,  taps<4>,
                                  taps<5>,  taps<6>,  taps<7>,  taps<8>,  taps<9>,
                                  taps<10>, taps<11>, taps<12>, taps<13>, taps<14>};
#elif defined(AFT_CPU_AVX2)
constexpr TapsFunction kTaps[] = {nullptr, taps<1>, taps<2>, taps<3>,
                                  taps<4>, taps<5>, taps<6>, taps<7>};
#else
constexpr TapsFunction kTaps[] = {nullptr, taps<1>, taps<2>, taps<3>, taps<4>, taps<5>, taps<6>};
#endif

}  // namespace aft::ops::cpu::AFT_CPU
