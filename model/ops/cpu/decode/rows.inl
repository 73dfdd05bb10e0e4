// Row-wise operations between the products of a token: layer norm and the activation of the MLP.
// Cost: a few passes over values that are in the first-level cache: 0.09 us for a norm of 256
// channels, 0.43 us for 1024 GELUs, 0.35 for short ones (within 1e-4; one core of an AMD EPYC).
//   y = (x - mean) / sqrt(var + eps) * weight + bias;  gelu(x) = x Phi(x), Phi by erf
// erf by Abramowitz and Stegun 7.1.26 (within 1.5e-7, what LibTorch's vectors use). Included once
// per instruction set.
#pragma once
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
AFT_INLINE float total_of(V x) {
    return _mm512_reduce_add_ps(x);
}
#else
AFT_INLINE float total_of(V x) {
    return reduce_add(x);
}
#endif

static void norm(const DecodeNorm& n) {
    for (int64_t row = 0; row < n.rows; ++row) {
        const float* x = n.x + row * n.stride;
        float* y = n.y + row * n.stride;
        V total = set1(0), squares = set1(0);
        for (int64_t at = 0; at < n.channels; at += kLanes)
            total = total + load_partial(x + at, n.channels - at, 0);
        const float mean = total_of(total) / static_cast<float>(n.channels);
        for (int64_t at = 0; at < n.channels; at += kLanes) {
            const V off = load_partial(x + at, n.channels - at, mean) - set1(mean);
            squares = fma(off, off, squares);
        }
        const float variance = total_of(squares) / static_cast<float>(n.channels);
        const V by = set1(1 / __builtin_sqrtf(variance + n.eps));
        for (int64_t at = 0; at < n.stride; at += kLanes) {
            const int64_t width = n.channels - at;
            const V off = load_partial(x + at, width, mean) - set1(mean);
            const V w = load_partial(n.weight + at, width, 0),
                    b = load_partial(n.bias + at, width, 0);
            store(y + at, fma(off * by, w, b));
        }
    }
}

AFT_INLINE V magnitude(V x) {
    return max(x, set1(0) - x);
}

// erf of z >= 0
template <bool is_short>
AFT_INLINE V erf_of(V z) {
    const V t = quotient<is_short>(set1(1), fma(z, set1(0.3275911F), set1(1)));
    V p = set1(1.061405429F);
    p = fma(p, t, set1(-1.453152027F));
    p = fma(p, t, set1(1.421413741F));
    p = fma(p, t, set1(-0.284496736F));
    p = fma(p, t, set1(0.254829592F));
    const V bell =
        is_short ? short_exp2(z * z * set1(-kLog2eHigh)) : exp2(to_log2(set1(0) - z * z, set1(0)));
    return set1(1) - p * t * bell;
}

template <bool is_short>
AFT_INLINE V gelu(V x) {
    const V e = erf_of<is_short>(magnitude(x) * set1(0.70710678F));
    const V half = x * set1(0.5F);
    return fma(magnitude(half), e, half);
}

AFT_INLINE V gelu_tanh(V x) {  // x sigmoid(2 z)
    const V z = set1(0.7978845608F) * fma(set1(0.044715F) * x * x, x, x);
    return x * sigmoid(z + z);
}

template <class F>
AFT_INLINE void for_values(const DecodeActivate& a, F f) {
    for (int64_t row = 0; row < a.rows; ++row)
        for (int64_t at = a.begin; at < a.end; at += kLanes) {
            float* p = a.x + row * a.stride + at;
            store(p, f(load(p)));
        }
}

static void activate(const DecodeActivate& a) {
    switch (a.kind) {
        case DecodeActivation::gelu:
            if (a.is_short) return for_values(a, [](V x) { return gelu<true>(x); });
            return for_values(a, [](V x) { return gelu<false>(x); });
        case DecodeActivation::gelu_tanh:
            return for_values(a, [](V x) { return gelu_tanh(x); });
        case DecodeActivation::relu:
            return for_values(a, [](V x) { return max(set1(0), x); });
    }
}

}  // namespace aft::ops::cpu::AFT_CPU
