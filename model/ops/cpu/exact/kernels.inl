// The exact path: one target t and one key column, in float64 and log space. Included once per
// instruction set.
//
//   p_j = exp(w_tj + K_j - top), top = max over the sources, R = sum p V / sum p   (paper Eq. 2)
//   dV_j = P p_j / sum p, dK_j = dw_tj = dV_j (V_j - R)                            (P: dL/dR)
//
// Cost: a source takes 0.9 ns of a core forward and 0.3 back with AVX-512 on a Xeon (1.5 and 0.4
// with AVX2, beside a build), of 96 to 352. Numerics: the largest term is exactly 1, so that
// nothing that matters underflows, whatever K and w are; exp() is a polynomial of degree 11 after
// Cody and Waite's reduction, within 1e-14.
#pragma once
#include "model/ops/cpu/exact/arguments.h"
#include "model/ops/cpu/simd/simd.inl"

namespace aft::ops::cpu::AFT_CPU {

typedef double W __attribute__((vector_size(kLanes * 4), aligned(8)));
typedef uint64_t WBits __attribute__((vector_size(kLanes * 4)));
constexpr int64_t kWide = kLanes / 2;

AFT_INLINE W load_wide(const double* p) {
    return *reinterpret_cast<const W*>(p);
}
AFT_INLINE void store_wide(double* p, W x) {
    *reinterpret_cast<W*>(p) = x;
}
// The first n lanes; the others are `fill`.
AFT_INLINE W load_wide(const double* p, int64_t n, double fill) {
    if (n >= kWide) return load_wide(p);
#if defined(AFT_CPU_AVX512)
    return _mm512_mask_loadu_pd(_mm512_set1_pd(fill), static_cast<__mmask8>((1 << n) - 1), p);
#else
    double lanes[kWide];
    for (int64_t i = 0; i < kWide; ++i) lanes[i] = i < n ? p[i] : fill;
    return load_wide(lanes);
#endif
}
AFT_INLINE void store_wide(double* p, W x, int64_t n) {
    if (n >= kWide) return store_wide(p, x);
#if defined(AFT_CPU_AVX512)
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1 << n) - 1), x);
#else
    for (int64_t i = 0; i < n; ++i) p[i] = x[i];
#endif
}
AFT_INLINE double sum_wide(W x) {
    double total = 0;
    for (int64_t i = 0; i < kWide; ++i) total += x[i];
    return total;
}

// e^x for x <= 0: 0 below -700, NaN for NaN.
AFT_INLINE W exp_wide(W x) {
    constexpr double kMagic = 0x1.8p52, kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
    constexpr double kTerms[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                 1.0 / 5040,     1.0 / 720,     1.0 / 120,    1.0 / 24,
                                 1.0 / 6,        1.0 / 2,       1.0,          1.0};
    const W shifted = x * 0x1.71547652b82fep0 + kMagic;  // the integer in the low mantissa bits
    const W n = shifted - kMagic, f = (x - n * kLn2High) - n * kLn2Low;
    W p = f * kTerms[0] + kTerms[1];
#pragma GCC unroll 10
    for (int i = 2; i < 12; ++i) p = p * f + kTerms[i];
    const WBits bits = reinterpret_cast<WBits>(p) + (reinterpret_cast<WBits>(shifted) << 52);
    return x < -700.0 ? W{} : reinterpret_cast<W>(bits);
}

static double exact_largest(const ExactTerms& t) {
    constexpr double kNothing = -__builtin_inf();
    W top = W{} + kNothing;
    for (int64_t i = 0; i < t.count; i += kWide) {
        const W z = load_wide(t.w + i, t.count - i, kNothing) + load_wide(t.k + i, t.count - i, 0);
        top = z > top ? z : top;
    }
    double out = kNothing;
    for (int64_t i = 0; i < kWide; ++i) out = top[i] > out ? top[i] : out;
    return out;
}

static double exact_weights(const ExactWeights& e) {
    const ExactTerms& t = e.terms;
    const double top = e.top;
    W total = {};
    for (int64_t i = 0; i < t.count; i += kWide) {
        const int64_t n = t.count - i;
        const W z = load_wide(t.w + i, n, -__builtin_inf()) + load_wide(t.k + i, n, 0);
        const W p = exp_wide(z - top);
        store_wide(e.p + i, p, n);
        total += p;
    }
    return sum_wide(total);
}

static double exact_average(const double* p, const double* v, int64_t count) {
    W total = {}, bad = {};
    for (int64_t i = 0; i < count; i += kWide) {
        const W x = load_wide(v + i, count - i, 0);
        total += load_wide(p + i, count - i, 0) * x;
        bad += x * 0.0;
    }
    return sum_wide(total) + sum_wide(bad);
}

static void exact_back(const ExactBack& e) {
    for (int64_t i = 0; i < e.count; i += kWide) {
        const int64_t n = e.count - i;
        const W g = load_wide(e.p + i, n, 0) * e.P, z = g * (load_wide(e.v + i, n, 0) - e.average);
        store_wide(e.dv + i, load_wide(e.dv + i, n, 0) + g, n);
        store_wide(e.dk + i, load_wide(e.dk + i, n, 0) + z, n);
        store_wide(e.dw + i, load_wide(e.dw + i, n, 0) + z, n);
    }
}

}  // namespace aft::ops::cpu::AFT_CPU
