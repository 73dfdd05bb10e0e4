// Kernels of the position biases: u r^T (paper Eq. 7) and exp(w), scaled row by row (scaling.h says
// how). Shared by the banded operators and aft-conv; included once per operator and instruction
// set.
//
//   out_tj = sum_f u_tf r_jf,   E_tj = 2^(w_tj log2 e - a_t + 30)
//
// Cost: 2 d' FLOP and one exponential a pair. Numerics: products in float64, or in float32 where
// the factors are small, in sums of 16 factors each; band/weights.cpp says which.
#pragma once
#include "model/ops/cpu/scaling.h"
#include "model/ops/cpu/simd/bias.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr int64_t kBiasRows = 6;  // targets of a product of factors

static float largest_of(const float* x, int64_t n) {
    V top = set1(-__builtin_inff()), bad = set1(0);
    for (int64_t i = 0; i < n; i += kLanes) {
        const V value = load_partial(x + i, n - i, x[0]);
        top = max(top, value);
        bad = bad + value * set1(0);
    }
    return reduce_add(bad) == 0 ? reduce_max(top) : __builtin_inff();
}

static float largest_of_wide(const double* x, int64_t n) {
    double top = x[0], bad = 0;
    for (int64_t i = 0; i < n; ++i) {
        top = x[i] > top ? x[i] : top;
        bad += x[i] * 0;
    }
    return bad == 0 ? static_cast<float>(top) : __builtin_inff();
}

// Two vectors of doubles at a time; the compiler fuses the multiply-adds.
static void wide_product(const WideProduct& p) {
    typedef double W __attribute__((vector_size(kLanes * 4), aligned(8)));
    constexpr int64_t half = kLanes / 2;
    for (int64_t block = 0; block < p.blocks; ++block) {
        W sums[kBiasRows][2] = {};
        const double* r = p.r + block * p.factors * kLanes;
        for (int64_t i = 0; i < p.factors; ++i, r += kLanes) {
            const W left = *reinterpret_cast<const W*>(r);
            const W right = *reinterpret_cast<const W*>(r + half);
#pragma GCC unroll 6
            for (int64_t row = 0; row < kBiasRows; ++row) {
                const double x = p.u[row * p.factors + i];
                sums[row][0] += left * x;
                sums[row][1] += right * x;
            }
        }
#pragma GCC unroll 6
        for (int64_t row = 0; row < kBiasRows; ++row) {
            double* out = p.out + row * p.row + block * kLanes;
            *reinterpret_cast<W*>(out) = sums[row][0];
            *reinterpret_cast<W*>(out + half) = sums[row][1];
        }
    }
}

// Sums of kGroup factors are added up: each rounding is of a part of the product.
template <int vectors>
AFT_INLINE void short_block(const ShortProduct& p, int64_t block) {
    constexpr int64_t kGroup = 16;
    const int64_t next = p.factors * kLanes;
    V total[kBiasRows][vectors] = {};
    const float* r = p.r + block * next;
    for (int64_t begin = 0; begin < p.factors; begin += kGroup) {
        const int64_t end = begin + kGroup < p.factors ? begin + kGroup : p.factors;
        V sums[kBiasRows][vectors] = {};
        for (int64_t i = begin; i < end; ++i, r += kLanes)
#pragma GCC unroll 6
            for (int64_t row = 0; row < kBiasRows; ++row)
#pragma GCC unroll 2
                for (int64_t v = 0; v < vectors; ++v)
                    sums[row][v] =
                        fma(set1(p.u[row * p.factors + i]), load(r + v * next), sums[row][v]);
#pragma GCC unroll 6
        for (int64_t row = 0; row < kBiasRows; ++row)
#pragma GCC unroll 2
            for (int64_t v = 0; v < vectors; ++v) total[row][v] = total[row][v] + sums[row][v];
    }
#pragma GCC unroll 6
    for (int64_t row = 0; row < kBiasRows; ++row)
#pragma GCC unroll 2
        for (int64_t v = 0; v < vectors; ++v)
            store(p.out + row * p.row + (block + v) * kLanes, total[row][v]);
}

static void short_product(const ShortProduct& p) {
    int64_t block = 0;
    for (; block + 1 < p.blocks; block += 2) short_block<2>(p, block);
    if (block < p.blocks) short_block<1>(p, block);
}

AFT_INLINE void fill(float* from, const float* to, float value) {
    for (; from < to; from += kLanes) store(from, set1(value));
}

// 2^(w log2 e - shift) of the first n, else 0; the exponent is split off in float64.
AFT_INLINE V exp2_of_doubles(const double* w, int64_t n, double shift) {
    float exponent[kLanes], fraction[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
        const double bits = l < n ? w[l] * 1.4426950408889634074 - shift : -400;
        const double x = bits < -400 ? -400 : bits, n_bits = (x + 0x1.8p52) - 0x1.8p52;
        exponent[l] = static_cast<float>(n_bits);
        fraction[l] = static_cast<float>(x - n_bits);
    }
    return ldexp(exp2_polynomial(load(fraction)), exponent_in_range(load(exponent)));
}

static void weight_row(const WeightRow& r) {
    const int64_t first = r.first < r.begin ? r.begin : (r.first > r.end ? r.end : r.first);
    const int64_t last = r.last > r.end ? r.end : (r.last < first ? first : r.last);
    fill(r.out, r.out + (first - r.begin), r.left);
    float* out = r.out + (first - r.begin);
    const V reference = set1(r.largest - kBiasShift);
    if (r.w != nullptr) {
        const float* w = r.w + (first - r.first);
        for (int64_t i = 0, n = last - first; i < n; i += kLanes)
            store(out + i, exp_scaled(load_partial(w + i, n - i, 0), reference));
    } else {
        const double* w = r.wide + (first - r.first);
        const double shift = static_cast<double>(r.largest) - static_cast<double>(kBiasShift);
        for (int64_t i = 0, n = last - first; i < n; i += kLanes)
            store(out + i, exp2_of_doubles(w + i, n - i, shift));
    }
    fill(r.out + (last - r.begin), r.out + (r.end - r.begin), r.right);
}

constexpr BiasKernels bias_table() {
    return {.largest_of = largest_of,
            .largest_of_wide = largest_of_wide,
            .weight_row = weight_row,
            .wide_product = wide_product,
            .short_product = short_product};
}

}  // namespace aft::ops::cpu::AFT_CPU
