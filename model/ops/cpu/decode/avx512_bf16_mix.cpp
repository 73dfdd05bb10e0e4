// accumulate_chunk in bf16: older chunks for a block of targets, for nets whose weights are reduced
// anyway and processors with AVX512_BF16 (mix.inl has the formula and the float32 form).
//   n_t += sum_j e_tj (x v)_j, d_t += sum_j e_tj x_j,   e = 2^(w - largest + 30), x = 2^(k - ref +
//   40)
// Numerics: e, x and x v are rounded to bf16, which has the range of float32; sums are of float32.
// Where a chunk's largest key is hidden by 60 bits it is computed from K itself, as there. Two
// sources in one instruction. Measured on one core, 256 channels: accumulate_chunk of 32 sources
// for 32 targets 5.8 us before it prefetched the next chunk (float32: 12), biases of 32 x 32 with
// d' = 64 1.1 us (float64: 3.2). Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode/sums.inl"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int kTargets = 8, kPairs = kDecodeBlock / 2;

AFT_INLINE __m512bh pairs(const uint32_t* p) {
    return (__m512bh)_mm512_loadu_si512(p);
}
AFT_INLINE __m512bh one_pair(const uint32_t* p) {
    return (__m512bh)_mm512_set1_epi32(static_cast<int>(*p));
}
AFT_INLINE void put_pair(uint32_t* to, V first, V second) {
    const auto low = (__m256i)_mm512_cvtneps_pbh(first), high = (__m256i)_mm512_cvtneps_pbh(second);
    _mm512_storeu_si512(to, _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                                            _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16)));
}
// The pairs of one vector of channels: kPairs pairs of x, then as many of x v.
AFT_INLINE uint32_t* pairs_at(float* x, int64_t at) {
    return reinterpret_cast<uint32_t*>(x + source_at(0, at));
}

static void finalize_chunk_bf16(const DecodeChunk& c) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        V x[kDecodeBlock], top = set1(-3e38F);
        for (int64_t j = 0; j < kDecodeBlock; ++j)
            top = max(top, exponent_of(load(c.k + source_at(j, at))));
        store(c.reference + at, top);
        for (int64_t j = 0; j < kDecodeBlock; ++j) {
            const V bits = exponent_of(load(c.k + source_at(j, at))) - top + set1(kDecodeKeyShift);
            const V exponent = ldexp(load(c.x + source_at(j, at)), bits);
            x[j] = select_ge(set1(kNothing), exponent, set1(0), exponent);
        }
        uint32_t* to = pairs_at(c.x, at);
        for (int64_t j = 0; j < kDecodeBlock; j += 2, to += kLanes) {
            put_pair(to, x[j], x[j + 1]);
            put_pair(to + kPairs * kLanes, x[j] * load(c.v + source_at(j, at)),
                     x[j + 1] * load(c.v + source_at(j + 1, at)));
        }
    }
}

static AttentionSums recompute_exactly(const DecodeAccumulate& p, int64_t target, int64_t at) {
    float exponent[kDecodeBlock], mantissa[kDecodeBlock];
    for (int64_t j = 0; j < kDecodeBlock; ++j) {
        const uint32_t pair = p.pairs[target * kPairs + j / 2];
        const uint32_t bits = j % 2 == 0 ? pair << 16 : pair & 0xffff0000U;
        float e = 0;
        __builtin_memcpy(&e, &bits, sizeof e);
        split_float(e, p.largest[target], exponent[j], mantissa[j]);
    }
    return sums_exactly(p.chunk, at, {exponent, mantissa});
}

struct ChunkSums {
    V n, d;
};
AFT_INLINE void add_chunk_sums(const DecodeAccumulate& p, int64_t target, int64_t at,
                               const ChunkSums& g) {
    const float largest = p.largest[target];
    if (largest <= kDecodeNever) return;
    float* sums = sums_of(p.sums, target, at);
    const V top = load(p.chunk.reference + at) + set1(largest), m = load(sums);
    const V size = _mm512_abs_ps(g.n);
    const __mmask16 safe = _mm512_cmp_ps_mask(g.d, set1(kMinChunkDenominator), _CMP_GE_OQ) &
                           _mm512_cmp_ps_mask(size, set1(kMaxChunkNumerator), _CMP_LT_OQ);
    constexpr float kShift = -kDecodeKeyShift - kDecodeBiasShift;
    const V shift = set1(kShift), bits = top - m + shift;
    // Fast path: one scale 2^bits, where it is a normal number and the accumulator keeps its
    // exponent. Else both are rescaled, as `top` may be an upper bound that no source reaches.
    const __mmask16 slow =
        _mm512_cmp_ps_mask(top, m, _CMP_GT_OQ) | _mm512_cmp_ps_mask(bits, set1(-126), _CMP_NGE_UQ);
    if (safe == 0xffff && slow == 0) {
        const V by = _mm512_castsi512_ps(_mm512_slli_epi32(
            _mm512_add_epi32(_mm512_cvtps_epi32(bits), _mm512_set1_epi32(127)), 23));
        store(sums + kLanes, fma(g.n, by, load(sums + kLanes)));
        store(sums + 2 * kLanes, fma(g.d, by, load(sums + 2 * kLanes)));
        return;
    }
    const AttentionSums quick{top, ldexp(g.n, shift), ldexp(g.d, shift)};
    store_sums(
        sums, kLanes,
        merge(load_sums(sums, kLanes), safe == 0xffff ? quick : recompute_exactly(p, target, at)));
}

static void accumulate_chunk_bf16(const DecodeAccumulate& p) {
    for (int64_t at = p.chunk.begin; at < p.chunk.end; at += kLanes) {
        const float* prefetch_from = (p.next == nullptr ? p.chunk.x : p.next) + source_at(0, at);
        for (int64_t first = p.first; first < p.first + p.targets; first += kTargets) {
            const uint32_t *x = pairs_at(p.chunk.x, at), *e = p.pairs + first * kPairs;
            V n[kTargets], d[kTargets];
#pragma GCC unroll 8
            for (int t = 0; t < kTargets; ++t) n[t] = d[t] = set1(0);
            for (int64_t pair = 0; pair < kPairs;
                 ++pair, x += kLanes, ++e, prefetch_from += kLanes / 2) {
                __builtin_prefetch(prefetch_from);
                const __m512bh one = pairs(x), valued = pairs(x + kPairs * kLanes);
#pragma GCC unroll 8
                for (int t = 0; t < kTargets; ++t) {
                    const __m512bh by = one_pair(e + t * kPairs);
                    n[t] = _mm512_dpbf16_ps(n[t], valued, by);
                    d[t] = _mm512_dpbf16_ps(d[t], one, by);
                }
            }
#pragma GCC unroll 8
            for (int t = 0; t < kTargets; ++t) add_chunk_sums(p, first + t, at, {n[t], d[t]});
        }
    }
}

static void factors_fp32(const DecodeFactors& f) {
    static_assert(kDecodeBlock == 2 * kLanes);
    for (int64_t first = 0; first < f.targets; first += kTargets) {
        const int64_t last = f.targets - 1 - first;
        V sum[kTargets][2];
#pragma GCC unroll 8
        for (int t = 0; t < kTargets; ++t) sum[t][0] = sum[t][1] = set1(0);
        const float* u[kTargets];
        for (int t = 0; t < kTargets; ++t) u[t] = f.u + (first + (t < last ? t : last)) * f.factors;
        for (int64_t i = 0; i < f.factors; ++i) {
            const V low = load(f.r + i * kDecodeBlock),
                    high = load(f.r + i * kDecodeBlock + kLanes);
#pragma GCC unroll 8
            for (int t = 0; t < kTargets; ++t) {
                const V by = set1(u[t][i]);
                sum[t][0] = fma(low, by, sum[t][0]);
                sum[t][1] = fma(high, by, sum[t][1]);
            }
        }
        for (int t = 0; t < kTargets && t <= last; ++t) {
            store(f.w32 + (first + t) * kDecodeBlock, sum[t][0]);
            store(f.w32 + (first + t) * kDecodeBlock + kLanes, sum[t][1]);
        }
    }
}

struct Exponents {  // of one vector of sources
    V seen, bits;   // 1 or 0; w log2 e
};
AFT_INLINE Exponents exponents_of(V w) {
    const V seen = select_ge(set1(kDecodeNever / 2), w, set1(0), set1(1));  // 1 for NaN
    const V finite = set1(0) - max(set1(-kLargestKey), set1(0) - max(set1(-kLargestKey), w));
    return {seen, to_log2(finite, set1(0))};
}
AFT_INLINE V weights_of(const Exponents& e, V w, float most) {
    const V finite = set1(0) - max(set1(-kLargestKey), set1(0) - max(set1(-kLargestKey), w));
    const V exponent = to_log2(finite, set1(most - kDecodeBiasShift));
    return select_ge(e.seen, set1(1), exp2(exponent), set1(0));
}

static bool tile_row_bf16(const DecodeTileRowBf16& t) {
    const V w[2] = {load(t.w), load(t.w + kLanes)}, never = set1(kDecodeNever);
    V top = never, low = never;  // low: of the negated
    for (const V each : w) {
        const Exponents e = exponents_of(each);
        top = max(top, select_ge(e.seen, set1(1), ceil(e.bits), never));
        low = max(low, select_ge(e.seen, set1(1), set1(0) - e.bits, never));
    }
    const float most = _mm512_reduce_max_ps(top), least = -_mm512_reduce_max_ps(low);
    const bool wide = most > kDecodeNever && !(most - least <= kDecodeWide);
    *t.largest = wide ? kDecodeNever : most;
    const V first = weights_of(exponents_of(w[0]), w[0], most);
    const V second = weights_of(exponents_of(w[1]), w[1], most);
    const __m512bh packed = _mm512_cvtne2ps_pbh(second, first);
    __builtin_memcpy(t.pairs, &packed, sizeof packed);
    return !wide;
}

}  // namespace avx512

void use_bf16_mix(DecodeKernels& table) {
    table.finalize_chunk_bf16 = avx512::finalize_chunk_bf16;
    table.accumulate_chunk_bf16 = avx512::accumulate_chunk_bf16;
    table.factors_fp32 = avx512::factors_fp32;
    table.tile_row_bf16 = avx512::tile_row_bf16;
}

}  // namespace aft::ops::cpu
