// One vector type and its few operations, for one instruction set per translation unit:
// FOLDER/avx512.cpp, avx2.cpp and portable.cpp define which before they include this. Everything is
// inlined into a namespace of its own and uses nothing of the standard library, so that no function
// compiled for a newer processor can be linked into code for an older one. No LibTorch.
#pragma once
#include <immintrin.h>

#include <cstdint>

#if defined(AFT_CPU_AMX)
#define AFT_CPU amx
#define AFT_CPU_AVX512
#elif defined(AFT_CPU_AVX512_BF16)
#define AFT_CPU avx512_bf16
#define AFT_CPU_AVX512
#elif defined(AFT_CPU_AVX512)
#define AFT_CPU avx512
#elif defined(AFT_CPU_AVX2)
#define AFT_CPU avx2
#else
#define AFT_CPU portable
#endif
#define AFT_INLINE static inline __attribute__((always_inline))

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)

using V = __m512;
constexpr int kLanes = 16;
AFT_INLINE V load(const float* p) {
    return _mm512_loadu_ps(p);
}
AFT_INLINE void store(float* p, V x) {
    _mm512_storeu_ps(p, x);
}
AFT_INLINE V set1(float x) {
    return _mm512_set1_ps(x);
}
AFT_INLINE V fma(V a, V b, V c) {
    return _mm512_fmadd_ps(a, b, c);
}
AFT_INLINE V max(V a, V b) {  // b where either is NaN
    return _mm512_max_ps(a, b);
}
AFT_INLINE V round(V x) {
    return _mm512_roundscale_ps(x, 8);
}
AFT_INLINE V ceil(V x) {
    return _mm512_roundscale_ps(x, 10);
}
AFT_INLINE V ldexp(V x, V n) {  // x 2^n, n an integer
    return _mm512_scalef_ps(x, n);
}
AFT_INLINE V select_ge(V x, V least, V yes, V no) {  // x >= least ? yes : no
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, least, _CMP_GE_OQ), no, yes);
}
AFT_INLINE bool any_ge(V x, V least) {
    return _mm512_cmp_ps_mask(x, least, _CMP_GE_OQ) != 0;
}
// Without looking at the cache: for results that are not read again soon. p aligned to a vector.
AFT_INLINE void stream(float* p, V x) {
    _mm512_stream_ps(p, x);
}
using Bf16Vector = __m256i;  // of as many bfloat16
AFT_INLINE V from_bf16(Bf16Vector x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
// To the nearest, ties to even; NaN stays one whichever bits of it are cut off.
AFT_INLINE Bf16Vector to_bf16(V x) {
#if defined(AFT_CPU_AVX512_BF16) || defined(AFT_CPU_AMX)
    return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));  // what is below 2^-126 becomes 0
#else
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), last);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i kept = _mm512_mask_or_epi32(sum, nan, bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
#endif
}
AFT_INLINE Bf16Vector load_bf16(const uint16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
AFT_INLINE void store_bf16(uint16_t* p, Bf16Vector x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}
AFT_INLINE void stream(uint16_t* p, V x) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), to_bf16(x));
}

#elif defined(AFT_CPU_AVX2)

using V = __m256;
constexpr int kLanes = 8;
AFT_INLINE V load(const float* p) {
    return _mm256_loadu_ps(p);
}
AFT_INLINE void store(float* p, V x) {
    _mm256_storeu_ps(p, x);
}
AFT_INLINE V set1(float x) {
    return _mm256_set1_ps(x);
}
AFT_INLINE V fma(V a, V b, V c) {
    return _mm256_fmadd_ps(a, b, c);
}
AFT_INLINE V max(V a, V b) {
    return _mm256_max_ps(a, b);
}
AFT_INLINE V round(V x) {
    return _mm256_round_ps(x, 8);
}
AFT_INLINE V ceil(V x) {
    return _mm256_ceil_ps(x);
}
AFT_INLINE V power(V n) {  // 2^n for |n| <= 126
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
AFT_INLINE V ldexp(V x, V n) {
    const V inside = _mm256_min_ps(set1(252), _mm256_max_ps(set1(-252), n));
    const V half = round(inside * set1(0.5F));
    return x * power(half) * power(inside - half);
}
AFT_INLINE V select_ge(V x, V least, V yes, V no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(x, least, _CMP_GE_OQ));
}
AFT_INLINE bool any_ge(V x, V least) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, least, _CMP_GE_OQ)) != 0;
}
AFT_INLINE void stream(float* p, V x) {
    _mm256_stream_ps(p, x);
}
using Bf16Vector = __m128i;
AFT_INLINE V from_bf16(Bf16Vector x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}
AFT_INLINE Bf16Vector to_bf16(V x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), last);
    const V quiet = _mm256_or_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x400000)));
    const V kept = _mm256_blendv_ps(_mm256_castsi256_ps(sum), quiet, _mm256_cmp_ps(x, x, 3));
    const __m256i short_ones = _mm256_srli_epi32(_mm256_castps_si256(kept), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(short_ones),
                            _mm256_extracti128_si256(short_ones, 1));
}
AFT_INLINE Bf16Vector load_bf16(const uint16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
AFT_INLINE void store_bf16(uint16_t* p, Bf16Vector x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
}
AFT_INLINE void stream(uint16_t* p, V x) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), to_bf16(x));
}

#else

using V = __m128;
constexpr int kLanes = 4;
AFT_INLINE V load(const float* p) {
    return _mm_loadu_ps(p);
}
AFT_INLINE void store(float* p, V x) {
    _mm_storeu_ps(p, x);
}
AFT_INLINE V set1(float x) {
    return _mm_set1_ps(x);
}
AFT_INLINE V fma(V a, V b, V c) {
    return a * b + c;
}
AFT_INLINE V max(V a, V b) {
    return _mm_max_ps(a, b);
}
AFT_INLINE V select_ge(V x, V least, V yes, V no) {
    const V mask = _mm_cmpge_ps(x, least);
    return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
AFT_INLINE bool any_ge(V x, V least) {
    return _mm_movemask_ps(_mm_cmpge_ps(x, least)) != 0;
}
AFT_INLINE V round(V x) {  // beyond 2^23 every float is an integer
    const V magic = set1(12582912), limit = set1(4194304);
    const V rounded = (x + magic) - magic;
    return select_ge(x, limit, x, select_ge(set1(-4194304), x, x, rounded));
}
AFT_INLINE V ceil(V x) {
    const V n = round(x);
    return select_ge(n, x, n, n + set1(1));
}
AFT_INLINE V power(V n) {
    return _mm_castsi128_ps(
        _mm_slli_epi32(_mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127)), 23));
}
AFT_INLINE V ldexp(V x, V n) {
    const V inside = _mm_min_ps(set1(252), _mm_max_ps(set1(-252), n));
    const V half = round(inside * set1(0.5F));
    return x * power(half) * power(inside - half);
}
AFT_INLINE void stream(float* p, V x) {
    _mm_stream_ps(p, x);
}
using Bf16Vector = int64_t;
AFT_INLINE V from_bf16(Bf16Vector x) {
    return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_cvtsi64_si128(x)));
}
AFT_INLINE Bf16Vector to_bf16(V x) {
    const __m128i bits = _mm_castps_si128(x);
    const __m128i last = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    const __m128i sum = _mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), last);
    const V nan = _mm_cmpunord_ps(x, x);
    const V quiet = _mm_or_ps(x, _mm_castsi128_ps(_mm_set1_epi32(0x400000)));
    const V kept = _mm_or_ps(_mm_and_ps(nan, quiet), _mm_andnot_ps(nan, _mm_castsi128_ps(sum)));
    // With its sign the upper half survives a signed packing.
    const __m128i short_ones = _mm_srai_epi32(_mm_castps_si128(kept), 16);
    return _mm_cvtsi128_si64(_mm_packs_epi32(short_ones, short_ones));
}
AFT_INLINE Bf16Vector load_bf16(const uint16_t* p) {
    Bf16Vector x = 0;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
AFT_INLINE void store_bf16(uint16_t* p, Bf16Vector x) {
    __builtin_memcpy(p, &x, sizeof x);
}
AFT_INLINE void stream(uint16_t* p, V x) {
    store_bf16(p, to_bf16(x));
}

#endif

// Numbers stored in bfloat16: widening is exact.
AFT_INLINE V load(const uint16_t* p) {
    return from_bf16(load_bf16(p));
}
AFT_INLINE void store(uint16_t* p, V x) {
    store_bf16(p, to_bf16(x));
}

// Compensated summation: the rounding error of every addition is computed (two-sum: Knuth, The Art
// of Computer Programming 2, 4.2.2, Theorem B; of a product before it is rounded where the compiler
// fuses it) and summed beside the dependent additions, which take the time. NaN once it is not
// finite.
struct CompensatedSum {
    V sum = set1(0), error = set1(0);

    void add(V x) {
        const V next = sum + x, part = next - sum;
        error = error + ((sum - (next - part)) + (x - part));
        sum = next;
    }
    void scale(V n) {
        sum = ldexp(sum, n);
        error = ldexp(error, n);
    }
    [[nodiscard]] V value() const { return sum + error; }
};

AFT_INLINE float reduce_add(V x) {
    float lanes[kLanes], total = 0;
    store(lanes, x);
    for (float lane : lanes) total += lane;
    return total;
}
AFT_INLINE float reduce_max(V x) {
    float lanes[kLanes];
    store(lanes, x);
    float out = lanes[0];
    for (float lane : lanes) out = lane > out ? lane : out;
    return out;
}

// The first n lanes; the others are `fill`. n may be anything.
AFT_INLINE V load_partial(const float* p, int64_t n, float fill) {
    if (n >= kLanes) return load(p);
    float lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = i < n ? p[i] : fill;
    return load(lanes);
}
AFT_INLINE void store_partial(float* p, V x, int64_t n) {
    if (n >= kLanes) return store(p, x);
    float lanes[kLanes];
    store(lanes, x);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
}
AFT_INLINE V load_partial(const uint16_t* p, int64_t n, float fill) {
    if (n >= kLanes) return load(p);
    float lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        const uint32_t bits = i < n ? static_cast<uint32_t>(p[i]) << 16 : 0;
        __builtin_memcpy(lanes + i, &bits, sizeof bits);
        if (i >= n) lanes[i] = fill;
    }
    return load(lanes);
}
AFT_INLINE void store_partial(uint16_t* p, V x, int64_t n) {
    if (n >= kLanes) return store(p, x);
    uint16_t lanes[kLanes];
    store(lanes, x);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
}

// A task reads a block of channels of each row only, too short for the hardware prefetcher: row t +
// kPrefetchRows is prefetched when t is used.
constexpr int64_t kPrefetchRows = 6;
template <class T>
AFT_INLINE V load_prefetching(const T* p, int64_t stride, int64_t n, float fill) {
    __builtin_prefetch(p + kPrefetchRows * stride);
    return load_partial(p, n, fill);
}
template <class T>
AFT_INLINE void store_prefetching(T* p, int64_t stride, V x, int64_t n) {
    __builtin_prefetch(p + kPrefetchRows * stride, 1);
    store_partial(p, x, n);
}

}  // namespace aft::ops::cpu::AFT_CPU
