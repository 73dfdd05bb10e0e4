// Pairs of sources in bfloat16, as products with sums in float32 take them: two rows of [X V | X]
// (panels.cpp) interleaved in 32-bit words. X is rounded first and X V made from the rounded X, so
// that the weights of N and D are the same and R stays an average. Powers are within 1e-4, a
// twentieth of what rounding takes. For instruction sets with AVX512-BF16, once each.
#pragma once
#include "model/ops/cpu/band/kernels.inl"

namespace aft::ops::cpu::AFT_CPU {

// [even 16 | odd 16] of a lane each; the even one in the low half.
AFT_INLINE __m512i pair(V even, V odd) {
    const __m512i both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
    const __m512i order = _mm512_set_epi32(
        0x1f000f, 0x1e000e, 0x1d000d, 0x1c000c, 0x1b000b, 0x1a000a, 0x190009, 0x180008, 0x170007,
        0x160006, 0x150005, 0x140004, 0x130003, 0x120002, 0x110001, 0x100000);
    return _mm512_permutexvar_epi16(order, both);
}
AFT_INLINE V even_of(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}
AFT_INLINE V odd_of(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-65536)));
}

template <class T>
AFT_INLINE V centred(const PackKeys<T>& p, const PackColumn& c, int64_t row) {
    return row < p.rows ? value(p, c, row) - c.mean : set1(0);
}

// Two rows of one vector of channels: X rounded, X V made from the rounded X.
template <class T>
AFT_INLINE void put_pair(const PackKeys<T>& p, PackColumn& c, int64_t row, V even, V odd) {
    uint16_t* const out = p.bf16 + row * kPanel + 2 * c.at;
    const __m512i x = pair(even, odd);
    const V first = even_of(x) * centred(p, c, row);
    const V second = odd_of(x) * centred(p, c, row + 1);
    _mm512_storeu_si512(out, pair(first, second));
    _mm512_storeu_si512(out + 2 * kChannels, x);
    c.n = c.n + first + second;
    c.d = c.d + even_of(x) + odd_of(x);
}

template <class T>
AFT_INLINE V power_of_key(const PackKeys<T>& p, const PackColumn& c, int64_t row) {
    if (row >= p.rows) return set1(0);
    return short_exp2(fma(key(p, c, row), set1(kLog2eHigh), set1(kKeyShift) - c.reference));
}

template <class T>
AFT_INLINE void clear_rest(const PackKeys<T>& p) {  // of the chunk
    const int64_t written = (p.rows + 1) / 2 * 2 * kPanel;
    __builtin_memset(p.bf16 + written, 0, static_cast<size_t>(kTile * kPanel - written) * 2);
}

// Sums are kept before row `phase` of every `step` rows (both even).
template <int64_t step, class T>
AFT_INLINE void pack_pairs(const PackKeys<T>& p, int64_t phase) {
    if (!p.fixed) key_reference(p);
    PackColumn columns[kHalfPanel];
#pragma GCC unroll 2
    for (int i = 0; i < kHalfPanel; ++i) columns[i] = begin_column(p, i * kLanes);
    for (int64_t row = 0; row < p.rows; row += 2) {
        const bool keeps = p.before != nullptr && row % step == phase;
#pragma GCC unroll 2
        for (int i = 0; i < kHalfPanel; ++i) {
            PackColumn& c = columns[i];
            if (keeps) keep_sums(p, c, p.before + row / step * kPanel);
            put_pair(p, c, row, power_of_key(p, c, row), power_of_key(p, c, row + 1));
        }
    }
#pragma GCC unroll 2
    for (int i = 0; i < kHalfPanel; ++i) keep_sums(p, columns[i], p.state);
    clear_rest(p);
}

// Running sums from the last row on, for every `step` rows (even).
AFT_INLINE void sum_pairs_after(const SumAfter& s, int64_t step) {
    for (int i = 0; i < kPanelVectors; ++i) {
        V total = set1(0);
        for (int64_t row = (s.rows - 1) / 2 * 2; row >= 0; row -= 2) {
            const __m512i x = _mm512_loadu_si512(s.bf16 + row * kPanel + 2 * i * kLanes);
            total = total + even_of(x) + odd_of(x);
            if (row % step == 0) store(s.after + row / step * kPanel + i * kLanes, total);
        }
    }
}

}  // namespace aft::ops::cpu::AFT_CPU
