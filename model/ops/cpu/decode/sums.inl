// What a target has heard, as decode_mix.inl explains it: sums (m, n, d) of one vector of channels,
// keys taken apart into powers of two, and a chunk's sums with their exact maximum. Included once
// per instruction set, and by files with more instructions of it.
#pragma once
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr float kLeastHeard = 0x1p+10F, kMostHeard = 0x1p+120F, kNothing = 0x1p-100F;
constexpr float kLargestKey = 1e8F;  // beyond it keys are alike

// Of source j in a chunk, and of a target's sums: all of one vector of channels lies together, so
// that a pull reads memory in one sweep.
AFT_INLINE int64_t place(int64_t j, int64_t at) {
    return at * kDecodeBlock + j * kLanes;
}
AFT_INLINE float* sums_of(float* sums, int64_t target, int64_t at) {
    return sums + 3 * place(target, at);
}

struct Heard {
    V m, n, d;
};
AFT_INLINE Heard heard_at(const float* sums, int64_t stride) {
    return {load(sums), load(sums + stride), load(sums + 2 * stride)};
}
AFT_INLINE void put_heard(float* sums, int64_t stride, const Heard& s) {
    store(sums, s.m);
    store(sums + stride, s.n);
    store(sums + 2 * stride, s.d);
}
AFT_INLINE Heard merged(const Heard& a, const Heard& b) {
    const V m = above(a.m, b.m);
    return {m, scaled(a.n, a.m - m) + scaled(b.n, b.m - m),
            scaled(a.d, a.m - m) + scaled(b.d, b.m - m)};
}

struct Key {
    V whole, rest;
};
AFT_INLINE V whole_of(V k) {
    k = above(all(-kLargestKey), k);
    return nearest((all(0) - above(all(-kLargestKey), all(0) - k)) * all(kLog2eHigh));
}
AFT_INLINE Key key_of(V k) {
    k = above(all(-kLargestKey), k);
    k = all(0) - above(all(-kLargestKey), all(0) - k);
    const V whole = nearest(k * all(kLog2eHigh));
    return {whole, in_bits(k, whole)};
}

AFT_INLINE V gated_mean(const Heard& s, const float* q) {
    if (q == nullptr) return s.n / s.d;
    return s.n / (s.d + s.d * exp2(in_bits(all(0) - load(q), all(0))));  // sigmoid(q) n / d
}

AFT_INLINE void hear(Heard& s, V k, V v) {
    const Key key = key_of(k);
    const V m = above(s.m, key.whole);
    const V x = exp2(key.rest + (key.whole - m));
    s = {m, fma(x, v, scaled(s.n, s.m - m)), x + scaled(s.d, s.m - m)};
}

struct Biases {
    const float *whole, *part;
};

// A chunk's sums with their exact maximum.
AFT_INLINE Heard heard_exactly(const DecodeChunk& c, int64_t at, const Biases& w) {
    Heard s{all(-3e38F), all(0), all(0)};
    for (int64_t j = 0; j < c.count; ++j)
        s.m = above(s.m, key_of(load(c.k + place(j, at))).whole + all(w.whole[j]));
    for (int64_t j = 0; j < c.count; ++j) {
        const Key key = key_of(load(c.k + place(j, at)));
        const V x = exp2(key.rest + (key.whole + all(w.whole[j]) - s.m)) * all(w.part[j]);
        s.n = fma(x, load(c.v + place(j, at)), s.n);
        s.d = s.d + x;
    }
    return s;
}

// The same of the open chunk, where x is 2^rest of every key already.
AFT_INLINE Heard heard_open(const DecodeChunk& c, int64_t at, const Biases& w) {
    V bits[kDecodeBlock];
    Heard s{all(-3e38F), all(0), all(0)};
    for (int64_t j = 0; j < c.count; ++j) {
        bits[j] = whole_of(load(c.k + place(j, at))) + all(w.whole[j]);
        s.m = above(s.m, bits[j]);
    }
    for (int64_t j = 0; j < c.count; ++j) {
        const V x = scaled(load(c.x + place(j, at)) * all(w.part[j]), bits[j] - s.m);
        s.n = fma(x, load(c.v + place(j, at)), s.n);
        s.d = s.d + x;
    }
    return s;
}

// A stored weight 2^(w - largest + kDecodeBiasShift) taken apart again: nothing was lost.
AFT_INLINE void take_apart(float e, float largest, float& whole, float& part) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &e, sizeof bits);
    const int exponent = static_cast<int>(bits >> 23) - 127;
    bits = (bits & 0x7fffffU) | (127U << 23);
    whole = static_cast<float>(exponent) - kDecodeBiasShift + largest;
    if (e == 0) whole = kDecodeNever;
    __builtin_memcpy(&part, &bits, sizeof bits);
    if (!(e > 0)) part = e;  // hidden, or not a number
}

}  // namespace aft::ops::cpu::AFT_CPU
