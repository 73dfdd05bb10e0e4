// A few rows times packed weights.
//   y[r, o] = bias[o] + sum_i w[o, i] x[r, i]
// Cost: one pass over the weights for up to kRowTile rows; they are what a token reads, so bytes
// decide. Outputs lie side by side in a vector, which needs no sum across lanes; every output is
// one dependent sum over i in order, whatever the number of rows, so that a row's result is the
// same in any batch. bf16 is widened by a shift, a byte by two, and all sums are of float32: only
// the weights are rounded. Measured with AVX-512 on one core, 256 to 1024: in float32 1 row 24, 4
// rows and more 54 products a nanosecond, of 58 that this processor can; the 19 million weights of
// 24 layers with d = 256 for one row on two cores 1.0 ms from huge pages, 2.0 from small ones.
// Included once per instruction set.
#pragma once
#include "model/ops/cpu/decode/each.inl"
#include "model/ops/cpu/decode/kernels.h"

namespace aft::ops::cpu::AFT_CPU {

constexpr int kWide = 4;  // vectors of a panel: chains that hide the latency of a product
constexpr int64_t kPanel = kWide * kLanes;
#if defined(AFT_CPU_AVX512)
constexpr int kRowTile = 6;
AFT_INLINE V low_half(const uint32_t* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16));
}
AFT_INLINE V high_half(const uint32_t* p) {
    const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), high));
}
template <int byte>
AFT_INLINE V byte_of(const uint32_t* p) {
    const __m512i up = _mm512_slli_epi32(_mm512_loadu_si512(p), 24 - 8 * byte);
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(up, 24));
}
#elif defined(AFT_CPU_AVX2)
constexpr int kRowTile = 2;
AFT_INLINE __m256i words(const uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
AFT_INLINE V low_half(const uint32_t* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(words(p), 16));
}
AFT_INLINE V high_half(const uint32_t* p) {
    const __m256i high = _mm256_set1_epi32(static_cast<int>(0xffff0000U));
    return _mm256_castsi256_ps(_mm256_and_si256(words(p), high));
}
template <int byte>
AFT_INLINE V byte_of(const uint32_t* p) {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(words(p), 24 - 8 * byte), 24));
}
#else
constexpr int kRowTile = 2;
AFT_INLINE __m128i words(const uint32_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
AFT_INLINE V low_half(const uint32_t* p) {
    return _mm_castsi128_ps(_mm_slli_epi32(words(p), 16));
}
AFT_INLINE V high_half(const uint32_t* p) {
    const __m128i high = _mm_set1_epi32(static_cast<int>(0xffff0000U));
    return _mm_castsi128_ps(_mm_and_si128(words(p), high));
}
template <int byte>
AFT_INLINE V byte_of(const uint32_t* p) {
    return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_slli_epi32(words(p), 24 - 8 * byte), 24));
}
#endif

template <int R>
struct ProductTile {
    V sum[R][kWide];
};

template <int R>
AFT_INLINE void add_products(ProductTile<R>& tile, const V (&w)[kWide], const float* x,
                             int64_t stride) {
    each<R>([&](auto r) AFT_LAMBDA {
        const V xi = set1(x[r * stride]);
        each<kWide>([&](auto i) AFT_LAMBDA { tile.sum[r][i] = fma(w[i], xi, tile.sum[r][i]); });
    });
}

// One step over 1, 2 or 4 inputs: the words of a panel, w [kPanel].
struct StepFp32 {
    static constexpr int kInputs = 1;
    template <int R>
    static inline __attribute__((always_inline)) void go(ProductTile<R>& tile, const uint32_t* w,
                                                         const float* x, int64_t stride) {
        V a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA {
            a[i] = load(reinterpret_cast<const float*>(w) + i * kLanes);
        });
        add_products<R>(tile, a, x, stride);
    }
};
struct StepBf16 {
    static constexpr int kInputs = 2;
    template <int R>
    static inline __attribute__((always_inline)) void go(ProductTile<R>& tile, const uint32_t* w,
                                                         const float* x, int64_t stride) {
        V a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = low_half(w + i * kLanes); });
        add_products<R>(tile, a, x, stride);
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = high_half(w + i * kLanes); });
        add_products<R>(tile, a, x + 1, stride);
    }
};
struct StepInt8 {
    static constexpr int kInputs = 4;
    template <int byte, int R>
    static inline __attribute__((always_inline)) void one(ProductTile<R>& tile, const uint32_t* w,
                                                          const float* x, int64_t stride) {
        V a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = byte_of<byte>(w + i * kLanes); });
        add_products<R>(tile, a, x + byte, stride);
    }
    template <int R>
    static inline __attribute__((always_inline)) void go(ProductTile<R>& tile, const uint32_t* w,
                                                         const float* x, int64_t stride) {
        one<0, R>(tile, w, x, stride);
        one<1, R>(tile, w, x, stride);
        one<2, R>(tile, w, x, stride);
        one<3, R>(tile, w, x, stride);
    }
};

template <class Step, int R, int lines>
AFT_INLINE void panel_rows(const DecodeProduct& p, const Spot& spot) {
    const auto [panel, row, from] = spot;
    const uint32_t* prefetch_from = from;
    const DecodeMatrix& m = p.matrix;
    const int64_t steps = (m.inputs + Step::kInputs - 1) / Step::kInputs;
    const uint32_t* w = static_cast<const uint32_t*>(m.weights) + panel * steps * kPanel;
    const float* x = p.x + row * p.x_stride;
    ProductTile<R> tile;
    each<R * kWide>([&](auto n) AFT_LAMBDA { tile.sum[n / kWide][n % kWide] = set1(0); });
    for (int64_t s = 0; s < steps; ++s, prefetch_from += 16 * lines) {
        prefetch<lines>(prefetch_from);
        Step::template go<R>(tile, w + s * kPanel, x + s * Step::kInputs, p.x_stride);
    }
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        constexpr int r = n / kWide, i = n % kWide;
        const int64_t at = panel * kPanel + i * kLanes;
        float* y = p.y + (row + r) * p.y_stride + at;
        V out = tile.sum[r][i];
        if (m.scale != nullptr) out = out * load(m.scale + at);
        out = out + load(m.bias + at);
        store(y, p.add ? load(y) + out : out);
    });
}

template <class Step>
static void product(const DecodeProduct& p) {
    const int64_t steps = (p.matrix.inputs + Step::kInputs - 1) / Step::kInputs;
    for_panel_tiles<kRowTile>(p, steps * kPanel,
                              [&](auto count, auto lines, const Spot& spot)
                                  AFT_LAMBDA { panel_rows<Step, count, lines>(p, spot); });
}

}  // namespace aft::ops::cpu::AFT_CPU
