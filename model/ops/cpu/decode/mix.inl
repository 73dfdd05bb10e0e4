// One token of aft-simple, aft-local and aft-full (paper Eq. 2, 5).
//   y_t = sigmoid(q_t) N / D,  (N, D) = sum_{j <= t} e^(K_j + w_tj) (V_j, 1)
// aft-simple keeps running sums: O(d). With biases a token of a block of kDecodeBlock targets needs
// (1) the terms of the chunks before the block, for all targets of the block at once when it begins
// (accumulate_chunk: a matrix product, each source is read once per block instead of once per
// token), (2) the sources of its own block, at most kDecodeBlock, from K itself (exact).
//
// Numerics. The state is (m, n, d) for 2^m n and 2^m d with an integer m, so that rescaling is
// exact. A key is k log2 e = exponent + fraction, |fraction| <= 1/2, and so is a bias: their sum
// loses nothing however large they are. A chunk stores 2^(k - reference + 40) with a reference per
// channel, the weights of a target are 2^(w - largest + 30) with its largest in that chunk. Where
// the denominator of a chunk falls under kMinChunkDenominator (a bias hides the chunk's largest key
// by 60 bits) or n is huge, the chunk is computed from K itself; the caller gives targets whose
// biases in one chunk differ by more than 90 bits to accumulate_exact. So nothing that matters can
// underflow.
//
// Measured on one core, 256 channels: accumulate_chunk of 32 sources for 32 targets 12.8 us (41
// products a nanosecond), 32 sources exactly 1.7 us while their chunk is open and 3.8 from K
// itself, a token of aft-simple 0.16 us. With 24 layers of d = 256 and float32 weights aft-local
// with a window of 256 costs 1.01 times aft-simple at t = 3000, aft-full 1.6 times: there the sums
// over 3000 sources are as much work as all weights. Included once per instruction set.
#pragma once
#include "model/ops/cpu/decode/sums.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
constexpr int kTargets = 8;
#else
constexpr int kTargets = 4;
#endif
static_assert(kDecodeBlock % kTargets == 0);

static void step(const DecodeStep& t) {
    for (int64_t at = t.begin; at < t.end; at += kLanes) {
        AttentionSums s = load_sums(t.sums + at, t.stride);
        accumulate(s, load(t.source.k + at), load(t.source.v + at));
        store_sums(t.sums + at, t.stride, s);
        if (t.y != nullptr) store(t.y + at, gated_mean(s, t.q == nullptr ? nullptr : t.q + at));
    }
}

static void accumulate_unbiased(const DecodeChunk& c, float* sums) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        AttentionSums s = load_sums(sums + at, c.stride);
        for (int64_t j = 0; j < c.count; ++j)
            accumulate(s, load(c.k + source_at(j, at)), load(c.v + source_at(j, at)));
        store_sums(sums + at, c.stride, s);
    }
}

static void append(const DecodeChunk& c, const DecodeSource& source, int64_t j) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        const V k = load(source.k + at);
        store(c.k + source_at(j, at), k);
        store(c.x + source_at(j, at), exp2(key_of(k).fraction));
        store(c.v + source_at(j, at), load(source.v + at));
    }
}

static void broadcast_state(const DecodeChunk& c, const float* sums, float* targets) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        const AttentionSums before = load_sums(sums + at, c.stride);
        for (int64_t t = 0; t < kDecodeBlock; ++t)
            store_sums(sums_of(targets, t, at), kLanes, before);
    }
}

static void finalize_chunk(const DecodeChunk& c) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        V top = set1(-3e38F);
        for (int64_t j = 0; j < c.count; ++j)
            top = max(top, exponent_of(load(c.k + source_at(j, at))));
        store(c.reference + at, top);
        for (int64_t j = 0; j < c.count; ++j) {
            const V bits = exponent_of(load(c.k + source_at(j, at))) - top + set1(kDecodeKeyShift);
            const V x = ldexp(load(c.x + source_at(j, at)), bits);
            store(c.x + source_at(j, at), select_ge(set1(kNothing), x, set1(0), x));
        }
    }
}

static void accumulate_exact(const DecodeExact& e) {
    const DecodeChunk& c = e.chunk;
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        float* sums = sums_of(e.sums, e.target, at);
        const AttentionSums before = load_sums(sums, kLanes);
        const Biases biases{e.exponent, e.mantissa};
        const AttentionSums s =
            merge(before, e.open ? sums_of_open(c, at, biases) : sums_exactly(c, at, biases));
        if (e.y == nullptr)
            store_sums(sums, kLanes, s);
        else
            store(e.y + at, gated_mean(s, e.q == nullptr ? nullptr : e.q + at));
    }
}

static AttentionSums recompute_exactly(const DecodeAccumulate& p, int64_t target, int64_t at) {
    float exponent[kDecodeBlock], mantissa[kDecodeBlock];
    for (int64_t j = 0; j < kDecodeBlock; ++j)
        split_float(p.weights[target * kDecodeBlock + j], p.largest[target], exponent[j],
                    mantissa[j]);
    return sums_exactly(p.chunk, at, {exponent, mantissa});
}

AFT_INLINE bool is_safe(V n, V d) {
    const V size = max(n, set1(0) - n);
    const V good = select_ge(set1(kMaxChunkNumerator), size,
                             select_ge(d, set1(kMinChunkDenominator), set1(0), set1(1)), set1(1));
    return !any_ge(good, set1(1));
}

// kTargets targets from `first`, one vector of channels.
AFT_INLINE void accumulate_tile(const DecodeAccumulate& p, int64_t first, int64_t at) {
    const DecodeChunk& c = p.chunk;
    V n[kTargets], d[kTargets];
#pragma GCC unroll 8
    for (int t = 0; t < kTargets; ++t) n[t] = d[t] = set1(0);
    const float* w = p.weights + first * kDecodeBlock;
    for (int64_t j = 0; j < kDecodeBlock; ++j) {
        const V x = load(c.x + source_at(j, at)), xv = x * load(c.v + source_at(j, at));
#pragma GCC unroll 8
        for (int t = 0; t < kTargets; ++t) {
            const V e = set1(w[t * kDecodeBlock + j]);
            n[t] = fma(e, xv, n[t]);
            d[t] = fma(e, x, d[t]);
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < kTargets; ++t) {
        const float largest = p.largest[first + t];
        if (largest <= kDecodeNever) continue;
        float* sums = sums_of(p.sums, first + t, at);
        const AttentionSums before = load_sums(sums, kLanes);
        const bool safe = is_safe(n[t], d[t]);
        // Scaled to the chunk's own size first: a sum of 2^70 must not stand beside one of 2^0.
        const V top = load(c.reference + at) + set1(largest);
        const V shift = set1(-kDecodeKeyShift - kDecodeBiasShift);
        const AttentionSums quick{top, ldexp(n[t], shift), ldexp(d[t], shift)};
        store_sums(sums, kLanes, merge(before, safe ? quick : recompute_exactly(p, first + t, at)));
    }
}

static void accumulate_chunk(const DecodeAccumulate& p) {
    for (int64_t at = p.chunk.begin; at < p.chunk.end; at += kLanes)
        for (int64_t t = p.first; t < p.first + p.targets; t += kTargets) accumulate_tile(p, t, at);
}

}  // namespace aft::ops::cpu::AFT_CPU
