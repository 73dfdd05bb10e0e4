// Powers, quotients and the gate, one vector at a time (simd.inl). Included once per instruction
// set.
#pragma once
#include "model/ops/cpu/simd/simd.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr float kLog2eHigh = 1.44269502162933349609F;  // float(log2 e), and what is missing of it
constexpr float kLog2eLow = 1.92596299e-8F;

// k log2(e) - reference, to the last bit of the difference
AFT_INLINE V to_log2(V k, V reference) {
#if defined(AFT_CPU_AVX512) || defined(AFT_CPU_AVX2)
    return fma(k, set1(kLog2eLow), fma(k, set1(kLog2eHigh), set1(0) - reference));
#else  // products of 12 bits each are exact without a fused multiplication
    constexpr float kShort = 0x1.716p0F, kShortLow = -1.76052861e-4F;
    const V high = _mm_and_ps(k, _mm_castsi128_ps(_mm_set1_epi32(~0xfff))), remainder = k - high;
    const V low = _mm_and_ps(remainder, _mm_cmpord_ps(remainder, remainder));  // infinity has none
    const V infinite = _mm_cmpeq_ps(max(k, set1(0) - k), set1(__builtin_inff()));
    const V last = _mm_andnot_ps(infinite, k * set1(kShortLow));  // of the other sign
    return last + (low * set1(kShort) + (high * set1(kShort) - reference));
#endif
}

AFT_INLINE V exp2_polynomial(V f) {  // 2^f for |f| <= 1/2, within 1e-7
    V p = set1(1.535336188319500e-4F);
    p = fma(p, f, set1(1.339887440266574e-3F));
    p = fma(p, f, set1(9.618437357674640e-3F));
    p = fma(p, f, set1(5.550332471162809e-2F));
    p = fma(p, f, set1(2.402264791363012e-1F));
    p = fma(p, f, set1(6.931472028550421e-1F));
    return fma(p, f, set1(1));
}
AFT_INLINE V exponent_in_range(V x) {
    x = max(set1(-400), x);
#if !defined(AFT_CPU_AVX512)  // where ldexp() has no infinite n
    x = select_ge(x, set1(400), set1(400), x);
#endif
    return x;
}

// 2^x within 2e-7 of it; 0 below -400, infinity above 128, NaN for NaN.
AFT_INLINE V exp2(V x) {
    x = exponent_in_range(x);
    const V n = round(x);
    return ldexp(exp2_polynomial(x - n), n);
}

// e^k 2^-reference, reference an integer, within 2.5e-7 of it for |k| <= 1000. Range reduction
// first: the integer part n of the exponent is subtracted from k before anything is rounded, as an
// exponent near 60 has 2^-18 of precision only, 1.3e-6 of the result. The rounding error of
// reference + n (beyond 2^24) is added back.
AFT_INLINE V exp_scaled(V k, V reference) {
#if defined(AFT_CPU_AVX512) || defined(AFT_CPU_AVX2)
    const V near = fma(k, set1(kLog2eHigh), set1(0) - reference);
#else
    const V near = to_log2(k, reference);
#endif
    const V n = round(exponent_in_range(near));
    const V exponent = reference + n, lost = n - (exponent - reference);
    const V f = max(set1(-1), to_log2(k, exponent) - lost);  // for exponents below -400
    return ldexp(exp2_polynomial(f), n);
}

// Short forms, for results in bfloat16 or beside weights of fewer bits: within 1e-4, a twentieth
// of what rounding to bfloat16 takes.
AFT_INLINE V short_polynomial(V f) {  // 2^f for |f| <= 1/2
    V p = set1(5.5171669e-2F);
    p = fma(p, f, set1(2.4261112e-1F));
    p = fma(p, f, set1(6.9326099e-1F));
    return fma(p, f, set1(9.9992807e-1F));
}
AFT_INLINE V short_exp2(V x) {
    x = exponent_in_range(x);
    const V n = round(x);
    return ldexp(short_polynomial(x - n), n);
}

// a / b, `is_short`: within 2^-14 of it.
template <bool is_short>
AFT_INLINE V quotient(V a, V b) {
#if defined(AFT_CPU_AVX512)
    if constexpr (is_short) return a * _mm512_rcp14_ps(b);
#endif
    return a / b;
}

AFT_INLINE V sigmoid(V q) {
    return set1(1) / (set1(1) + exp2(to_log2(set1(0) - q, set1(0))));
}

}  // namespace aft::ops::cpu::AFT_CPU
