// The attention state of a target (mix.inl explains it): sums (m, n, d) of one vector of channels,
// keys split into exponent and fraction, and a chunk's sums with their exact maximum. Included once
// per instruction set, and by files with more instructions of it.
#pragma once
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr float kMinChunkDenominator = 0x1p+10F, kMaxChunkNumerator = 0x1p+120F,
                kNothing = 0x1p-100F;
constexpr float kLargestKey = 1e8F;  // beyond it keys are alike

// Offsets of source j in a chunk, and of a target's sums: one vector of channels is contiguous, so
// that accumulate_chunk reads memory in one sweep.
AFT_INLINE int64_t source_at(int64_t j, int64_t at) {
    return at * kDecodeBlock + j * kLanes;
}
AFT_INLINE float* sums_of(float* sums, int64_t target, int64_t at) {
    return sums + 3 * source_at(target, at);
}

struct AttentionSums {
    V m, n, d;
};
AFT_INLINE AttentionSums load_sums(const float* sums, int64_t stride) {
    return {load(sums), load(sums + stride), load(sums + 2 * stride)};
}
AFT_INLINE void store_sums(float* sums, int64_t stride, const AttentionSums& s) {
    store(sums, s.m);
    store(sums + stride, s.n);
    store(sums + 2 * stride, s.d);
}
AFT_INLINE AttentionSums merge(const AttentionSums& a, const AttentionSums& b) {
    const V m = max(a.m, b.m);
    return {m, ldexp(a.n, a.m - m) + ldexp(b.n, b.m - m),
            ldexp(a.d, a.m - m) + ldexp(b.d, b.m - m)};
}

struct Key {
    V exponent, fraction;
};
AFT_INLINE V exponent_of(V k) {
    k = max(set1(-kLargestKey), k);
    return round((set1(0) - max(set1(-kLargestKey), set1(0) - k)) * set1(kLog2eHigh));
}
AFT_INLINE Key key_of(V k) {
    k = max(set1(-kLargestKey), k);
    k = set1(0) - max(set1(-kLargestKey), set1(0) - k);
    const V exponent = round(k * set1(kLog2eHigh));
    return {exponent, to_log2(k, exponent)};
}

AFT_INLINE V gated_mean(const AttentionSums& s, const float* q) {
    if (q == nullptr) return s.n / s.d;
    return s.n / (s.d + s.d * exp2(to_log2(set1(0) - load(q), set1(0))));  // sigmoid(q) n / d
}

AFT_INLINE void accumulate(AttentionSums& s, V k, V v) {
    const Key key = key_of(k);
    const V m = max(s.m, key.exponent);
    const V x = exp2(key.fraction + (key.exponent - m));
    s = {m, fma(x, v, ldexp(s.n, s.m - m)), x + ldexp(s.d, s.m - m)};
}

struct Biases {
    const float *exponent, *mantissa;
};

// A chunk's sums with their exact maximum.
AFT_INLINE AttentionSums sums_exactly(const DecodeChunk& c, int64_t at, const Biases& w) {
    AttentionSums s{set1(-3e38F), set1(0), set1(0)};
    for (int64_t j = 0; j < c.count; ++j)
        s.m = max(s.m, key_of(load(c.k + source_at(j, at))).exponent + set1(w.exponent[j]));
    for (int64_t j = 0; j < c.count; ++j) {
        const Key key = key_of(load(c.k + source_at(j, at)));
        const V x =
            exp2(key.fraction + (key.exponent + set1(w.exponent[j]) - s.m)) * set1(w.mantissa[j]);
        s.n = fma(x, load(c.v + source_at(j, at)), s.n);
        s.d = s.d + x;
    }
    return s;
}

// The same of the open chunk, where x is 2^fraction of every key already.
AFT_INLINE AttentionSums sums_of_open(const DecodeChunk& c, int64_t at, const Biases& w) {
    V bits[kDecodeBlock];
    AttentionSums s{set1(-3e38F), set1(0), set1(0)};
    for (int64_t j = 0; j < c.count; ++j) {
        bits[j] = exponent_of(load(c.k + source_at(j, at))) + set1(w.exponent[j]);
        s.m = max(s.m, bits[j]);
    }
    for (int64_t j = 0; j < c.count; ++j) {
        const V x = ldexp(load(c.x + source_at(j, at)) * set1(w.mantissa[j]), bits[j] - s.m);
        s.n = fma(x, load(c.v + source_at(j, at)), s.n);
        s.d = s.d + x;
    }
    return s;
}

// A stored weight 2^(w - largest + kDecodeBiasShift) split again: nothing was lost.
AFT_INLINE void split_float(float e, float largest, float& exponent, float& mantissa) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &e, sizeof bits);
    const int power = static_cast<int>(bits >> 23) - 127;
    bits = (bits & 0x7fffffU) | (127U << 23);
    exponent = static_cast<float>(power) - kDecodeBiasShift + largest;
    if (e == 0) exponent = kDecodeNever;
    __builtin_memcpy(&mantissa, &bits, sizeof bits);
    if (!(e > 0)) mantissa = e;  // hidden, or not a number
}

}  // namespace aft::ops::cpu::AFT_CPU
