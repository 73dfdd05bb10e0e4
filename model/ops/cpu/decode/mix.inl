// One token of aft-simple, aft-local and aft-full (paper Eq. 2, 5).
//   y_t = sigmoid(q_t) N / D,  (N, D) = sum_{j <= t} e^(K_j + w_tj) (V_j, 1)
// aft-simple keeps running sums: O(d). With biases a token of a block of kDecodeBlock targets needs
// (1) what it hears from the chunks before the block: for all targets of the block at once when it
// begins (pull: a matrix product, each source is read once per block instead of once per token),
// (2) the sources of its own block, at most kDecodeBlock, from K itself (exact).
//
// Numerics. Sums are (m, n, d), truly 2^m n and 2^m d with m whole: rescaling is exact. A key is
// k log2 e = whole + rest, |rest| <= 1/2, and so is a bias, so that their sum loses nothing however
// large they are. A chunk stores 2^(k - reference + 40) with a reference per channel, the weights
// of a target are 2^(w - largest + 30) with its largest in that chunk. Where the denominator of a
// chunk falls under kLeastHeard (a bias hides the chunk's largest key by 60 bits) or n is huge, the
// chunk is taken from K itself; targets whose biases in one chunk differ by more than 90 bits are
// given to `exact` by the caller. So nothing that matters can vanish.
//
// Measured on one core, 256 channels: a pull of 32 sources for 32 targets 12.8 us (41 products a
// nanosecond), 32 sources exactly 1.7 us while their chunk is open and 3.8 from K itself, a token
// of aft-simple 0.16 us. With 24 layers of d = 256 and float32 weights aft-local with a window of
// 256 costs 1.01 times aft-simple at t = 3000, aft-full 1.6 times: there the sums over 3000 sources
// are as much work as all weights. Included once per instruction set.
#pragma once
#include "model/ops/cpu/decode/sums.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
constexpr int kTargets = 8;
#else
constexpr int kTargets = 4;
#endif
static_assert(kDecodeBlock % kTargets == 0);

static void take(const DecodeTake& t) {
    for (int64_t at = t.begin; at < t.end; at += kLanes) {
        Heard s = heard_at(t.sums + at, t.stride);
        hear(s, load(t.source.k + at), load(t.source.v + at));
        put_heard(t.sums + at, t.stride, s);
        if (t.y != nullptr) store(t.y + at, gated_mean(s, t.q == nullptr ? nullptr : t.q + at));
    }
}

static void fold(const DecodeChunk& c, float* sums) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        Heard s = heard_at(sums + at, c.stride);
        for (int64_t j = 0; j < c.count; ++j)
            hear(s, load(c.k + place(j, at)), load(c.v + place(j, at)));
        put_heard(sums + at, c.stride, s);
    }
}

static void append(const DecodeChunk& c, const DecodeSource& source, int64_t j) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        const V k = load(source.k + at);
        store(c.k + place(j, at), k);
        store(c.x + place(j, at), exp2(key_of(k).rest));
        store(c.v + place(j, at), load(source.v + at));
    }
}

static void begin(const DecodeChunk& c, const float* sums, float* targets) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        const Heard before = heard_at(sums + at, c.stride);
        for (int64_t t = 0; t < kDecodeBlock; ++t)
            put_heard(sums_of(targets, t, at), kLanes, before);
    }
}

static void seal(const DecodeChunk& c) {
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        V top = all(-3e38F);
        for (int64_t j = 0; j < c.count; ++j) top = above(top, whole_of(load(c.k + place(j, at))));
        store(c.reference + at, top);
        for (int64_t j = 0; j < c.count; ++j) {
            const V bits = whole_of(load(c.k + place(j, at))) - top + all(kDecodeKeyShift);
            const V x = scaled(load(c.x + place(j, at)), bits);
            store(c.x + place(j, at), where_at_least(all(kNothing), x, all(0), x));
        }
    }
}

static void exact(const DecodeExact& e) {
    const DecodeChunk& c = e.chunk;
    for (int64_t at = c.begin; at < c.end; at += kLanes) {
        float* sums = sums_of(e.sums, e.target, at);
        const Heard before = heard_at(sums, kLanes);
        const Biases biases{e.whole, e.part};
        const Heard s =
            merged(before, e.open ? heard_open(c, at, biases) : heard_exactly(c, at, biases));
        if (e.y == nullptr)
            put_heard(sums, kLanes, s);
        else
            store(e.y + at, gated_mean(s, e.q == nullptr ? nullptr : e.q + at));
    }
}

static Heard heard_again(const DecodePull& p, int64_t target, int64_t at) {
    float whole[kDecodeBlock], part[kDecodeBlock];
    for (int64_t j = 0; j < kDecodeBlock; ++j)
        take_apart(p.weights[target * kDecodeBlock + j], p.largest[target], whole[j], part[j]);
    return heard_exactly(p.chunk, at, {whole, part});
}

AFT_INLINE bool is_safe(V n, V d) {
    const V size = above(n, all(0) - n);
    const V good = where_at_least(all(kMostHeard), size,
                                  where_at_least(d, all(kLeastHeard), all(0), all(1)), all(1));
    return !any_at_least(good, all(1));
}

// kTargets targets from `first`, one vector of channels.
AFT_INLINE void pull_tile(const DecodePull& p, int64_t first, int64_t at) {
    const DecodeChunk& c = p.chunk;
    V n[kTargets], d[kTargets];
#pragma GCC unroll 8
    for (int t = 0; t < kTargets; ++t) n[t] = d[t] = all(0);
    const float* w = p.weights + first * kDecodeBlock;
    for (int64_t j = 0; j < kDecodeBlock; ++j) {
        const V x = load(c.x + place(j, at)), xv = x * load(c.v + place(j, at));
#pragma GCC unroll 8
        for (int t = 0; t < kTargets; ++t) {
            const V e = all(w[t * kDecodeBlock + j]);
            n[t] = fma(e, xv, n[t]);
            d[t] = fma(e, x, d[t]);
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < kTargets; ++t) {
        const float largest = p.largest[first + t];
        if (largest <= kDecodeNever) continue;
        float* sums = sums_of(p.sums, first + t, at);
        const Heard before = heard_at(sums, kLanes);
        const bool safe = is_safe(n[t], d[t]);
        // Taken to the chunk's own size first: a sum of 2^70 must not stand beside one of 2^0.
        const V top = load(c.reference + at) + all(largest);
        const V shift = all(-kDecodeKeyShift - kDecodeBiasShift);
        const Heard quick{top, scaled(n[t], shift), scaled(d[t], shift)};
        put_heard(sums, kLanes, merged(before, safe ? quick : heard_again(p, first + t, at)));
    }
}

static void pull(const DecodePull& p) {
    for (int64_t at = p.chunk.begin; at < p.chunk.end; at += kLanes)
        for (int64_t t = p.first; t < p.first + p.targets; t += kTargets) pull_tile(p, t, at);
}

}  // namespace aft::ops::cpu::AFT_CPU
