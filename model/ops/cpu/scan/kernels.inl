// aft-simple (paper Eq. 5): one running sum per channel, O(T d), one sweep over memory, bound by
// it. Included once per instruction set.
//
//   N_t = N_{t-1} + 2^(k_t-m) V_t,  D_t = D_{t-1} + 2^(k_t-m),  k = K log2 e,  m an integer
//
// The reference m of a channel rises only when a key stands kRaise bits above it (N and D are then
// rescaled by a power of two, exactly), so D_t >= 1/2 always: safe for |K| up to 700,000 without an
// exact path. Larger K and sums of V that overflow are detected (N is NaN then). From the
// second-level cache a vector of 16 takes 7.4 ns that way, 8.3 with a maximum and a rescaling in
// every row; B = 4, T = 3072, d = 256 takes 1.4 ms on two cores, 1.25 to 1.36 times the time of
// copying as many bytes.
#pragma once
#include "model/ops/cpu/scan/arguments.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

struct RunningSums {
    V m, n, d;
};

constexpr float kRaise = 10;
constexpr float kLargestReference = 0x1p+20F;
constexpr float kNaN = __builtin_nanf("");

#if defined(AFT_CPU_AVX512)
AFT_INLINE V long_polynomial(V f) {  // 2^f for |f| <= 1/2
    V p = set1(1.3276471979286704e-3F);
    p = fma(p, f, set1(9.675541334209831e-3F));
    p = fma(p, f, set1(5.550713273543075e-2F));
    p = fma(p, f, set1(2.402211972384865e-1F));
    p = fma(p, f, set1(6.93146967064733e-1F));
    return fma(p, f, set1(1.0000000716546822F));
}
#endif

// 2^x within 2e-7 of it for x < 127, `is_short`: within 1e-4; 0 below -126, NaN for NaN (adding to
// the exponent of one whose payload has low bits would make a number of it).
template <bool is_short = false>
AFT_INLINE V exp2_fast(V x) {
#if defined(AFT_CPU_AVX512)
    const V shifted = x + set1(12582912), f = x - (shifted - set1(12582912));  // 1.5 * 2^23
    const V p = is_short ? short_polynomial(f) : long_polynomial(f);
    const __mmask16 counts = _mm512_cmp_ps_mask(x, set1(-126), _CMP_GE_OQ);
    const V nothing = max(set1(0), x);  // or NaN
    return _mm512_castsi512_ps(
        _mm512_mask_add_epi32(_mm512_castps_si512(nothing), counts, _mm512_castps_si512(p),
                              _mm512_slli_epi32(_mm512_castps_si512(shifted), 23)));
#else
    return is_short ? short_exp2(x) : exp2(x);
#endif
}

// e^-q, at most 2^96: then nothing is left of what it gates.
template <bool is_short = false>
AFT_INLINE V exp_of_negative(V q) {
    const V x = q * set1(-kLog2eHigh);
#if defined(AFT_CPU_AVX512)
    return exp2_fast<is_short>(_mm512_min_ps(set1(96), x));
#else
    return exp2_fast<is_short>(select_ge(x, set1(96), set1(96), x));
#endif
}

// -> the exponent that N and D were scaled by. Where float32 cannot represent m and m +- 1, m
// becomes NaN, and so do all later sums: such keys need the exact path.
AFT_INLINE V raise(RunningSums& s, V k, V bits) {
    V m = select_ge(bits, set1(kRaise), ceil(k * set1(kLog2eHigh)), s.m);
    m = select_ge(set1(kLargestReference), max(m, set1(0) - m), m, set1(kNaN));
    const V by = max(set1(-400), s.m - m);  // scaled by -infinity, NaN would be zero
    s = {m, ldexp(s.n, by), ldexp(s.d, by)};
    return by;
}

template <bool is_short>
AFT_INLINE V accumulate(RunningSums& s, V k, V v) {  // -> 2^(k - m)
    V bits = to_log2(k, s.m);
    if (__builtin_expect(any_ge(bits, set1(kRaise)), 0)) {
        raise(s, k, bits);
        bits = to_log2(k, s.m);
    }
    const V x = exp2_fast<is_short>(bits);
    s.n = fma(x, v, s.n);
    s.d = x + s.d;
    return x;
}

// Every key that is a number stands above it.
AFT_INLINE RunningSums empty_sums() {
    return {set1(-__builtin_inff()), set1(0), set1(0)};
}

// RunningSums sums of up to kScanWidth channels, in the first-level cache.
constexpr int64_t kScanWidth = 512;
struct ChannelStates {
    float m[kScanWidth], n[kScanWidth], d[kScanWidth];
};
AFT_INLINE RunningSums state_at(const ChannelStates& s, int64_t at) {
    return {load(s.m + at), load(s.n + at), load(s.d + at)};
}
AFT_INLINE void put_state(ChannelStates& s, int64_t at, const RunningSums& x) {
    store(s.m + at, x.m);
    store(s.n + at, x.n);
    store(s.d + at, x.d);
}

// [3, state_row]: m, N, D
template <class T>
AFT_INLINE void save(const Scan<T>& s, float* to, int64_t at, const RunningSums& state) {
    const int64_t width = s.channels - at;
    store_partial(to + at, state.m, width);
    store_partial(to + s.state_row + at, state.n, width);
    store_partial(to + 2 * s.state_row + at, state.d, width);
}
// Lanes past the channels hold an average of 0.
template <class T>
AFT_INLINE RunningSums loaded(const Scan<T>& s, const float* from, int64_t at) {
    const int64_t width = s.channels - at;
    return {load_partial(from + at, width, 0), load_partial(from + s.state_row + at, width, 0),
            load_partial(from + 2 * s.state_row + at, width, 1)};
}
template <class T>
AFT_INLINE float* kept(const Scan<T>& s, int64_t chunk) {
    return s.states + chunk * 3 * s.state_row;
}

// A block of channels [base, end), and how its rows are read and written: whole vectors at aligned
// addresses, past the caches if the results are too large for them.
struct ScanBlock {
    int64_t base = 0, end = 0;
};
enum class Access { some, full, streamed };

template <Access access, class T>
AFT_INLINE V read(const T* p, int64_t width) {
    return access == Access::some ? load_partial(p, width, 0) : load(p);
}
template <Access access, class T>
AFT_INLINE void write(T* p, V x, int64_t width) {
    if (access == Access::streamed)
        stream(p, x);
    else if (access == Access::full)
        store(p, x);
    else
        store_partial(p, x, width);
}

template <class T>
AFT_INLINE bool is_aligned(const T* p) {
    return reinterpret_cast<uintptr_t>(p) % (kLanes * sizeof(T)) == 0;
}
template <class T>
AFT_INLINE Access access_of(const Scan<T>& s, const T* out) {
    if (s.stride % kLanes != 0 || s.channels % kLanes != 0) return Access::some;
    return s.streams && is_aligned(out) ? Access::streamed : Access::full;
}

// Into the second-level cache; never past the tensor's end.
AFT_INLINE void prefetch(const void* p) {
    __builtin_prefetch(p, 0, 2);
}

// One division gives the average and its gate.
template <bool is_short>
AFT_INLINE V gated(const RunningSums& s, V q) {
    return quotient<is_short>(s.n, fma(s.d, exp_of_negative<is_short>(q), s.d));
}

// Row by row, so that memory is read and written in one sweep. Short powers: for results in
// bfloat16 whose sums no gradient starts from.
template <Access access, bool has_gate, bool is_short, class T>
AFT_INLINE V scan_rows(const Scan<T>& s, const ScanBlock& b) {
    ChannelStates states;
    V bad = set1(0);
    const int64_t distance = s.prefetch_rows * s.stride;
    for (int64_t at = b.base; at < b.end; at += kLanes)
        put_state(states, at - b.base,
                  s.before == nullptr ? empty_sums() : loaded(s, s.before, at));
    for (int64_t row = 0; row < s.length; ++row) {
        if (s.states != nullptr && row % kCheckpointRows == 0)
            for (int64_t at = b.base; at < b.end; at += kLanes)
                save(s, kept(s, row / kCheckpointRows), at, state_at(states, at - b.base));
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            const int64_t width = s.channels - at, where = row * s.stride + at;
            if (distance != 0) {
                prefetch(s.k + where + distance);
                prefetch(s.v + where + distance);
            }
            RunningSums now = state_at(states, at - b.base);
            accumulate<is_short>(now, read<access>(s.k + where, width),
                                 read<access>(s.v + where, width));
            put_state(states, at - b.base, now);
            const V y = has_gate ? gated<is_short>(now, read<access>(s.q + where, width))
                                 : quotient<is_short>(now.n, now.d);
            write<access>(s.y + where, y, width);
        }
    }
    // A sum that was once not finite stays so.
    for (int64_t at = b.base; at < b.end; at += kLanes)
        bad = fma(state_at(states, at - b.base).n, set1(0), bad);
    return bad;
}

template <bool has_gate, bool is_short, class T>
AFT_INLINE V scan_block(const Scan<T>& s, const ScanBlock& b) {
    switch (access_of(s, s.y)) {
        case Access::streamed:
            return scan_rows<Access::streamed, has_gate, is_short>(s, b);
        case Access::full:
            return scan_rows<Access::full, has_gate, is_short>(s, b);
        default:
            return scan_rows<Access::some, has_gate, is_short>(s, b);
    }
}
template <bool is_short, class T>
AFT_INLINE V scan_block(const Scan<T>& s, const ScanBlock& b) {
    return s.q != nullptr ? scan_block<true, is_short>(s, b) : scan_block<false, is_short>(s, b);
}

// Whether short powers are near enough for what is made from them.
template <class T>
AFT_INLINE bool takes_short(const Scan<T>& s) {
    return sizeof(T) == sizeof(Bf16) && s.states == nullptr;
}

template <class T, class F>
AFT_INLINE void for_blocks(const Scan<T>& s, F f) {
    for (int64_t base = 0; base < s.channels; base += kScanWidth)
        f(ScanBlock{base, base + kScanWidth < s.channels ? base + kScanWidth : s.channels});
}

template <class T>
static bool scan(const Scan<T>& s) {
    V bad = set1(0);
    for_blocks(s, [&](const ScanBlock& b) {
        bad = bad + (takes_short(s) ? scan_block<true>(s, b) : scan_block<false>(s, b));
    });
    _mm_sfence();  // streamed rows are seen by the other threads
    return reduce_add(bad) == 0;
}

// Sums of all rows.
template <Access access, bool is_short, class T>
AFT_INLINE void sum_rows(const Scan<T>& s, const ScanBlock& b, ChannelStates& states) {
    const bool prefetches = s.q != nullptr && s.prefetch_rows != 0;
    for (int64_t at = b.base; at < b.end; at += kLanes)
        put_state(states, at - b.base, empty_sums());
    for (int64_t row = 0; row < s.length; ++row)
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            const int64_t width = s.channels - at, where = row * s.stride + at;
            if (prefetches) prefetch(s.q + where);
            RunningSums now = state_at(states, at - b.base);
            accumulate<is_short>(now, read<access>(s.k + where, width),
                                 read<access>(s.v + where, width));
            put_state(states, at - b.base, now);
        }
}
template <class T>
AFT_INLINE void sum_block(const Scan<T>& s, const ScanBlock& b, ChannelStates& states) {
    if (s.channels % kLanes != 0)
        sum_rows<Access::some, false>(s, b, states);
    else if (takes_short(s))
        sum_rows<Access::full, true>(s, b, states);
    else
        sum_rows<Access::full, false>(s, b, states);
}

}  // namespace aft::ops::cpu::AFT_CPU
