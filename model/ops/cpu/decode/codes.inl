// Rows of x as the products of bytes and of bf16 take them. For AVX-512 alone.
#pragma once
#include "model/ops/cpu/decode/each.inl"
#include "model/ops/cpu/decode/kernels.h"

namespace aft::ops::cpu::avx512 {

// Bytes between the least and the largest value of a row (and 0), each row padded to a multiple;
// behind them the steps, then the zeros.
struct Codes {
    uint8_t* bytes;
    float* steps;
    int32_t* zeros;
    int64_t stride;
    const DecodeMatrix& matrix;
};
AFT_INLINE Codes codes_of(const DecodeProduct& p, int64_t multiple) {
    const int64_t stride = (p.matrix.inputs + multiple - 1) / multiple * multiple;
    auto* const steps = reinterpret_cast<float*>(p.codes + p.rows * stride);
    return {p.codes, steps, reinterpret_cast<int32_t*>(steps + p.rows), stride, p.matrix};
}

AFT_INLINE void put_codes(uint8_t* to, __m512i code, int64_t count) {
    const __m128i bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(code, _mm512_setzero_si512()));
    if (count >= kLanes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>((1 << count) - 1), bytes);
}

AFT_INLINE void encode_row(const float* x, int64_t inputs, const Codes& codes, int64_t row) {
    V top = set1(0), low = set1(0), bad = set1(0);  // low: of the negated
    for (int64_t at = 0; at < inputs; at += kLanes) {
        const V v = load_partial(x + at, inputs - at, 0);
        top = max(top, v);
        low = max(low, set1(0) - v);
        bad = fma(v, set1(0), bad);
    }
    const float most = _mm512_reduce_max_ps(top), least = -_mm512_reduce_max_ps(low);
    const float step = (most - least) / 255, inverse = step > 0 ? 1 / step : 0;
    const int32_t zero = _mm_cvtss_si32(_mm_set_ss(-least * inverse));
    for (int64_t at = 0; at < codes.stride; at += kLanes) {
        const V v = load_partial(x + at, inputs - at, 0) * set1(inverse);
        put_codes(codes.bytes + row * codes.stride + at,
                  _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(zero)),
                  codes.stride - at);
    }
    codes.steps[row] = step + _mm512_reduce_add_ps(bad);  // NaN where x is not finite
    codes.zeros[row] = zero;
}
AFT_INLINE void encode(const DecodeProduct& p, const Codes& codes) {
    for (int64_t row = 0; row < p.rows && !p.coded; ++row)
        encode_row(p.x + row * p.x_stride, p.matrix.inputs, codes, row);
}

// Dequantises the integer sums of the vector of outputs `at`.
AFT_INLINE V decoded(const Codes& codes, int64_t row, int64_t at, __m512i sums) {
    const DecodeMatrix& m = codes.matrix;
    const __m512i off =
        _mm512_mullo_epi32(_mm512_loadu_si512(m.sums + at), _mm512_set1_epi32(codes.zeros[row]));
    const V total = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums, off));
    return fma(total, load(m.scale + at) * set1(codes.steps[row]), load(m.bias + at));
}

#if defined(__AVX512BF16__)
// Pairs of bf16, each row padded with zeros.
struct Pairs {
    uint32_t* words;
    int64_t stride;
};
AFT_INLINE Pairs pairs_of(const DecodeProduct& p, int64_t multiple) {
    const int64_t words = (p.matrix.inputs + 1) / 2;
    return {reinterpret_cast<uint32_t*>(p.codes), (words + multiple - 1) / multiple * multiple};
}
AFT_INLINE void encode(const DecodeProduct& p, const Pairs& to) {
    for (int64_t row = 0; row < p.rows && !p.coded; ++row)
        for (int64_t at = 0; at < 2 * to.stride; at += kLanes) {
            const V x = load_partial(p.x + row * p.x_stride + at, p.matrix.inputs - at, 0);
            const __m256bh half = _mm512_cvtneps_pbh(x);
            __builtin_memcpy(to.words + row * to.stride + at / 2, &half, sizeof half);
        }
}
#endif

}  // namespace aft::ops::cpu::avx512
