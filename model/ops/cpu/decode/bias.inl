// The position biases of one chunk of sources: w[t, j] = sum_f u[t, f] r[j, f] in float64 (a
// product of hundreds in float32 would be wrong in the fourth digit of its exponential), and split
// into e^w = mantissa 2^exponent. Cost: 2 kDecodeBlock d' FLOP per target, a fifth of what the
// mixer does with it at d = 256, d' = 64. A tile of 32 x 32 biases with d' = 64 takes 3.2 us on one
// core. Vector types of the compiler. Included once per instruction set.
#pragma once
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

using Doubles = double __attribute__((vector_size(kLanes * 4)));
using NarrowFloat = float __attribute__((vector_size(kLanes * 2)));
constexpr int kDoubles = kLanes / 2;
constexpr int kBiasTargets = 4, kBiasWide = kDoubles >= 8 ? 4 : 2;

// kBiasTargets targets and kBiasWide vectors of sources from `at`.
template <int R>
AFT_INLINE void factor_tile(const DecodeFactors& f, int64_t target, int64_t at) {
    Doubles sum[R][kBiasWide] = {};
    for (int64_t i = 0; i < f.factors; ++i) {
        Doubles r[kBiasWide];
#pragma GCC unroll 4
        for (int j = 0; j < kBiasWide; ++j) {
            NarrowFloat from;
            __builtin_memcpy(&from, f.r + i * kDecodeBlock + at + j * kDoubles, sizeof from);
            r[j] = __builtin_convertvector(from, Doubles);
        }
#pragma GCC unroll 4
        for (int t = 0; t < R; ++t) {
            const auto u = static_cast<double>(f.u[(target + t) * f.factors + i]);
#pragma GCC unroll 4
            for (int j = 0; j < kBiasWide; ++j) sum[t][j] += r[j] * u;
        }
    }
    for (int t = 0; t < R; ++t)
        __builtin_memcpy(f.w + (target + t) * kDecodeBlock + at, sum[t], sizeof sum[t]);
}

static void factors(const DecodeFactors& f) {
    for (int64_t at = 0; at < kDecodeBlock; at += kBiasWide * kDoubles) {
        int64_t t = 0;
        for (; t + kBiasTargets <= f.targets; t += kBiasTargets)
            factor_tile<kBiasTargets>(f, t, at);
        for (; t < f.targets; ++t) factor_tile<1>(f, t, at);
    }
}

static void split_exponents(const DecodeSplit& p) {
    constexpr double kLog2e = 1.4426950408889634, kRound = 6755399441055744.0, kMost = 1e8;
    float fraction[kDecodeBlock];
    for (int64_t j = 0; j < kDecodeBlock; ++j) {
        double w = p.w[j];
        w = w > kMost ? kMost : w;
        w = w < -kMost ? -kMost : w;
        const double bits = w * kLog2e, exponent = (bits + kRound) - kRound;
        p.exponent[j] = static_cast<float>(exponent);
        fraction[j] = static_cast<float>(bits - exponent);
    }
    for (int64_t j = 0; j < kDecodeBlock; j += kLanes)
        store(p.mantissa + j, exp2(load(fraction + j)));
}

static bool tile_row(const DecodeTileRow& row) {
    V top = set1(kDecodeNever), low = set1(kDecodeNever);  // low: of the negated
    for (int64_t j = 0; j < kDecodeBlock; j += kLanes) {
        const V exponent = load(row.exponent + j), none = set1(kDecodeNever);
        const V seen = select_ge(set1(0), load(row.mantissa + j), set1(0), set1(1));
        top = max(top, select_ge(seen, set1(1), exponent, none));
        low = max(low, select_ge(seen, set1(1), set1(0) - exponent, none));
    }
    const float most = reduce_max(top), least = -reduce_max(low);
    const bool wide = most - least > kDecodeWide;
    *row.largest = wide ? kDecodeNever : most;
    for (int64_t j = 0; j < kDecodeBlock; j += kLanes) {
        const V bits = load(row.exponent + j) - set1(most - kDecodeBiasShift);
        store(row.weights + j, wide ? set1(0) : ldexp(load(row.mantissa + j), bits));
    }
    return !wide;
}

}  // namespace aft::ops::cpu::AFT_CPU
