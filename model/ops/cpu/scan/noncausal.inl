// aft-simple where every target sees every source, forward and gradient: one average per channel
// for all targets, O(T d), every tensor read and written once. Included once per instruction set.
//
//   R = N / D over all rows (kernels.inl), Y_t = R sigmoid(Q_t)
//   S = sum_t P_t with P = dY sigmoid(Q),  dQ = P R (1 - sigmoid(Q))
//   dV_j = 2^(k_j-m) S / D,  dK_j = dV_j (V_j - R)
//
// (paper Eq. 5 without its mask.) Numerics: one exact R for all targets, so that no difference of
// two sums is taken.
#pragma once
#include "model/ops/cpu/scan/gradient.inl"

namespace aft::ops::cpu::AFT_CPU {

template <Access access, bool has_gate, class T>
AFT_INLINE void average_rows(const Scan<T>& s, const ScanBlock& b, const ChannelStates& states) {
    for (int64_t row = 0; row < s.length; ++row)
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            const int64_t width = s.channels - at, where = row * s.stride + at;
            const V R = load(states.n + at - b.base);
            const V y =
                has_gate ? R / (set1(1) + exp_of_negative(read<access>(s.q + where, width))) : R;
            write<access>(s.y + where, y, width);
        }
}

template <bool has_gate, class T>
AFT_INLINE void average_block(const Scan<T>& s, const ScanBlock& b, const ChannelStates& states) {
    switch (access_of(s, s.y)) {
        case Access::streamed:
            return average_rows<Access::streamed, has_gate>(s, b, states);
        case Access::full:
            return average_rows<Access::full, has_gate>(s, b, states);
        default:
            return average_rows<Access::some, has_gate>(s, b, states);
    }
}

template <class T>
static bool scan_all(const Scan<T>& s) {
    V bad = set1(0);
    for_blocks(s, [&](const ScanBlock& b) {
        ChannelStates states;
        sum_block(s, b, states);
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            RunningSums sums = state_at(states, at - b.base);
            if (s.states != nullptr) save(s, s.states, at, sums);
            bad = fma(sums.n, set1(0), bad);
            sums.n = sums.n / sums.d;
            put_state(states, at - b.base, sums);
        }
        if (s.q != nullptr)
            average_block<true>(s, b, states);
        else
            average_block<false>(s, b, states);
    });
    _mm_sfence();
    return reduce_add(bad) == 0;
}

// dQ, and S in d; R is in n.
template <Access access, bool has_gate, class T>
AFT_INLINE void query_rows(const ScanGradient<T>& g, const ScanBlock& b, ChannelStates& states) {
    const Scan<T> s = g.forward;
    for (int64_t row = 0; row < s.length; ++row)
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            const int64_t width = s.channels - at, where = row * s.stride + at, c = at - b.base;
            V P = read<access>(g.dy + where, width);
            if (has_gate) {
                const V e = exp_of_negative(read<access>(s.q + where, width));
                const V gate = set1(1) / (set1(1) + e);
                P = P * gate;
                write<access>(g.dq + where, P * (gate * e) * load(states.n + c), width);
            }
            store(states.d + c, load(states.d + c) + P);
        }
}

// S / D is in d. -> zero if all results are finite, else NaN.
template <Access access, class T>
AFT_INLINE V key_rows(const ScanGradient<T>& g, const ScanBlock& b, const ChannelStates& states) {
    const Scan<T> s = g.forward;
    V bad = set1(0);
    for (int64_t row = 0; row < s.length; ++row)
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            const int64_t width = s.channels - at, where = row * s.stride + at, c = at - b.base;
            const RunningSums sums = state_at(states, c);
            const V k = read<access>(s.k + where, width), v = read<access>(s.v + where, width);
            const V dv = exp2_fast(to_log2(k, sums.m)) * sums.d;
            write<access>(g.dv + where, dv, width);
            // Halved first: the difference of two values near the largest float32 would overflow.
            const V half = set1(0.5F);
            const V dk = (dv + dv) * (v * half - sums.n * half);
            write<access>(g.dk + where, dk, width);
            bad = fma(dk, set1(0), bad);
        }
    return bad;
}

template <Access access, class T>
AFT_INLINE void all_rows(const ScanGradient<T>& g, const ScanBlock& b) {
    const Scan<T>& s = g.forward;
    ChannelStates states;
    float D[kScanWidth];
    for (int64_t at = b.base; at < b.end; at += kLanes) {
        const RunningSums sums = loaded(s, s.states, at);
        store(D + at - b.base, sums.d);
        put_state(states, at - b.base, {sums.m, sums.n / sums.d, set1(0)});
    }
    if (s.q != nullptr)
        query_rows<access, true>(g, b, states);
    else
        query_rows<access, false>(g, b, states);
    for (int64_t c = 0; c < b.end - b.base; c += kLanes)
        store(states.d + c, load(states.d + c) / load(D + c));
    // One exact average for all: nothing cancels. But S may overflow where its parts do not.
    const float bad = reduce_add(key_rows<access>(g, b, states));
    for (int64_t at = b.base; at < b.end; at += kLanes)
        g.norms[at / kLanes] = {.left = 1 + static_cast<double>(bad), .part = 0};
}

template <class T>
static void scan_all_gradient(const ScanGradient<T>& g) {
    for_blocks(g.forward, [&](const ScanBlock& b) {
        switch (gradient_access(g)) {
            case Access::streamed:
                return all_rows<Access::streamed>(g, b);
            case Access::full:
                return all_rows<Access::full>(g, b);
            default:
                return all_rows<Access::some>(g, b);
        }
    });
    _mm_sfence();
}

}  // namespace aft::ops::cpu::AFT_CPU
