// aft-simple (paper Eq. 5): one running sum per channel, O(T d), bound by memory: B = 4, T = 3072,
// d = 256 takes 1.0 ms forward and 3.7 ms backward on two cores, a bare sweep over the same memory
// 0.8 ms. Included once per instruction set.
//
//   m_t = max(m_{t-1}, ceil(K_t log2 e)), N_t = N_{t-1} 2^(m_{t-1}-m_t) + 2^(k_t-m_t) V_t, D alike
//
// Whole references m make every rescaling exact, and D_t >= 1/2 always: safe for any finite K
// without a second path; sums of huge V may overflow, which is noticed. The gradient walks back:
// SA_j = sum_{t>=j} P_t / D_t at reference m_j,
//   dV_j = 2^(k_j-m_j) SA_j,  dK_j = dV_j (V_j - mean) + 2^(k_j-m_j) SC_j,  C_t = A_t (mean - R_t);
// N, D, m of each kScanChunk rows are computed again from the state kept at its start.
#pragma once
#include "model/ops/cpu/kernels.h"
#include "model/ops/cpu/simd.inl"

namespace aft::ops::cpu::AFT_CPU {

struct ScanPart {
    int64_t base, stop, begin, end;  // channels, rows
};

// Of dK and of the first of its terms.
struct Squares {
    V left, part;
};

struct Running {
    V m, n, d;
};

AFT_INLINE V take(Running& s, V k, V v) {  // -> 2^(k - m)
    const V bits = k * all(kLog2eHigh), m = above(s.m, ceiling(bits)), by = s.m - m;
    const V x = exp2(in_bits(k, m));
    s = {m, fma(x, v, scaled(s.n, by)), x + scaled(s.d, by)};
    return x;
}

// Below every key; times zero it is still zero.
AFT_INLINE Running nothing_yet() {
    return {all(-3e38F), all(0), all(0)};
}

// Running sums of up to kScanWidth channels, in the first-level cache.
constexpr int64_t kScanWidth = 512;
struct States {
    float m[kScanWidth], n[kScanWidth], d[kScanWidth];
};
AFT_INLINE Running state_at(const States& s, int64_t at) {
    return {load(s.m + at), load(s.n + at), load(s.d + at)};
}
AFT_INLINE void put_state(States& s, int64_t at, const Running& x) {
    store(s.m + at, x.m);
    store(s.n + at, x.n);
    store(s.d + at, x.d);
}

AFT_INLINE void keep(const Scan& s, int64_t chunk, int64_t at, const Running& state) {
    float* to = s.states + chunk * 3 * s.state_row + at;
    const int64_t width = s.channels - at;
    store_some(to, state.m, width);
    store_some(to + s.state_row, state.n, width);
    store_some(to + 2 * s.state_row, state.d, width);
}
AFT_INLINE Running kept(const Scan& s, int64_t chunk, int64_t at) {
    const float* from = s.states + chunk * 3 * s.state_row + at;
    const int64_t width = s.channels - at;
    return {load_some(from, width, 0), load_some(from + s.state_row, width, 0),
            load_some(from + 2 * s.state_row, width, 0)};
}

// q none: sigmoid(q) = 1. One division gives the average and its gate.
AFT_INLINE V gated(const Running& s, const float* q, int64_t width) {
    if (q == nullptr) return s.n / s.d;
    return s.n / (s.d * (all(1) + exp2(load_some(q, width, 0) * all(-kLog2eHigh))));
}

// Row by row, so that memory is read and written in one sweep.
template <bool streams>
AFT_INLINE V scan_rows(const Scan& s, int64_t base) {
    States states;
    V bad = all(0);
    const int64_t end = base + kScanWidth < s.channels ? base + kScanWidth : s.channels;
    for (int64_t at = base; at < end; at += kLanes) put_state(states, at - base, nothing_yet());
    for (int64_t row = 0; row < s.length; ++row) {
        const bool keeps = s.states != nullptr && row % kScanChunk == 0;
        for (int64_t at = base; at < end; at += kLanes) {
            const int64_t width = streams ? kLanes : s.channels - at, where = row * s.stride + at;
            Running now = state_at(states, at - base);
            if (keeps) keep(s, row / kScanChunk, at, now);
            take(now, load_some(s.k + where, width, 0), load_some(s.v + where, width, 0));
            put_state(states, at - base, now);
            const V y = gated(now, s.q == nullptr ? nullptr : s.q + where, width);
            bad = fma(now.n, all(0), bad);
            if (streams)
                stream(s.y + where, y);
            else
                store_some(s.y + where, y, width);
        }
    }
    return bad;
}

static bool scan(const Scan& s) {
    constexpr int64_t bytes = kLanes * sizeof(float);
    const bool aligned = reinterpret_cast<uintptr_t>(s.y) % bytes == 0 && s.stride % kLanes == 0 &&
                         s.channels % kLanes == 0;
    V bad = all(0);
    for (int64_t base = 0; base < s.channels; base += kScanWidth)
        bad = bad + (aligned ? scan_rows<true>(s, base) : scan_rows<false>(s, base));
    return sum(bad) == 0;
}

// What the walk back needs of one chunk's rows: [kScanChunk, kScanWidth] each.
struct ChunkRows {
    float x[kScanChunk][kScanWidth], m[kScanChunk][kScanWidth], a[kScanChunk][kScanWidth],
        c[kScanChunk][kScanWidth];
};

// Rows [begin, end) again, for channels [base, stop).
AFT_INLINE void replay(const ScanGradient& g, const ScanPart& p, ChunkRows& rows) {
    const Scan& s = g.forward;
    States states;
    for (int64_t at = p.base; at < p.stop; at += kLanes)
        put_state(states, at - p.base, kept(s, p.begin / kScanChunk, at));
    for (int64_t row = p.begin; row < p.end; ++row)
        for (int64_t at = p.base; at < p.stop; at += kLanes) {
            const int64_t where = row * s.stride + at, width = s.channels - at;
            const int64_t i = row - p.begin, c = at - p.base;
            Running now = state_at(states, c);
            const V x =
                take(now, load_some(s.k + where, width, 0), load_some(s.v + where, width, 0));
            put_state(states, c, now);
            const V inverse = all(1) / now.d, R = now.n * inverse;
            V P = load_some(g.dy + where, width, 0);
            if (s.q != nullptr) {
                const V gate = sigmoid(load_some(s.q + where, width, 0));
                P = P * gate;
                store_some(g.dq + where, P * R * (all(1) - gate), width);
            }
            const V A = P * inverse;
            store(rows.x[i] + c, x);
            store(rows.m[i] + c, now.m);
            store(rows.a[i] + c, A);
            store(rows.c[i] + c, A * (load_some(g.mean + at, width, 0) - R));
        }
}

// SA in n, SC in d, at reference m.
AFT_INLINE Squares walk_back(const ScanGradient& g, const ScanPart& p, const ChunkRows& rows,
                             States& states) {
    Squares out{all(0), all(0)};
    const Scan& s = g.forward;
    for (int64_t row = p.end - 1; row >= p.begin; --row)
        for (int64_t at = p.base; at < p.stop; at += kLanes) {
            const int64_t where = row * s.stride + at, width = s.channels - at;
            const int64_t i = row - p.begin, c = at - p.base;
            const Running later = state_at(states, c);
            const V m = load(rows.m[i] + c), x = load(rows.x[i] + c), by = m - later.m;
            const V SA = scaled(later.n, by) + load(rows.a[i] + c);
            const V SC = scaled(later.d, by) + load(rows.c[i] + c);
            put_state(states, c, {m, SA, SC});
            const V dv = x * SA, mean = load_some(g.mean + at, width, 0);
            store_some(g.dv + where, dv, width);
            const V part = dv * (load_some(s.v + where, width, 0) - mean);
            const V dk = fma(x, SC, part);
            store_some(g.dk + where, dk, width);
            out.left = fma(dk, dk, out.left);
            out.part = fma(part, part, out.part);
        }
    return out;
}

static Norms scan_gradient(const ScanGradient& g) {
    const Scan& s = g.forward;
    static thread_local ChunkRows rows;
    Squares total{all(0), all(0)};
    const int64_t chunks = (s.length + kScanChunk - 1) / kScanChunk;
    for (int64_t base = 0; base < s.channels; base += kScanWidth) {
        const int64_t stop = base + kScanWidth < s.channels ? base + kScanWidth : s.channels;
        States states;
        for (int64_t c = 0; c < kScanWidth; c += kLanes)
            put_state(states, c, {all(3e38F), all(0), all(0)});  // zero at any reference
        for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
            const int64_t begin = chunk * kScanChunk;
            const int64_t end = begin + kScanChunk < s.length ? begin + kScanChunk : s.length;
            const ScanPart part{base, stop, begin, end};
            replay(g, part, rows);
            const Squares more = walk_back(g, part, rows, states);
            total = {total.left + more.left, total.part + more.part};
        }
    }
    return {static_cast<double>(sum(total.left)), static_cast<double>(sum(total.part))};
}

// Not causal: one average per channel for all targets.
AFT_INLINE Running all_of(const Scan& s, int64_t at) {
    const int64_t width = s.channels - at;
    Running now = nothing_yet();
    for (int64_t row = 0; row < s.length; ++row)
        take(now, load_some(s.k + row * s.stride + at, width, 0),
             load_some(s.v + row * s.stride + at, width, 0));
    return now;
}

static bool scan_all(const Scan& s) {
    V bad = all(0);
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        const int64_t width = s.channels - at;
        const Running sums = all_of(s, at);
        const V R = sums.n / sums.d;
        bad = fma(sums.n, all(0), bad);
        for (int64_t row = 0; row < s.length; ++row) {
            const int64_t where = row * s.stride + at;
            const V y = s.q == nullptr ? R : R * sigmoid(load_some(s.q + where, width, 0));
            store_some(s.y + where, y, width);
        }
    }
    return sum(bad) == 0;
}

static Norms scan_all_gradient(const ScanGradient& g) {
    const Scan& s = g.forward;
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        const int64_t width = s.channels - at;
        const Running sums = all_of(s, at);
        const V R = sums.n / sums.d;
        V total = all(0);
        for (int64_t row = 0; row < s.length; ++row) {
            const int64_t where = row * s.stride + at;
            const V dy = load_some(g.dy + where, width, 0);
            if (s.q == nullptr) {
                total = total + dy;
                continue;
            }
            const V gate = sigmoid(load_some(s.q + where, width, 0));
            total = fma(dy, gate, total);
            store_some(g.dq + where, dy * gate * R * (all(1) - gate), width);
        }
        for (int64_t row = 0; row < s.length; ++row) {
            const int64_t where = row * s.stride + at;
            const V x = exp2(in_bits(load_some(s.k + where, width, 0), sums.m));
            const V dv = x / sums.d * total;
            store_some(g.dv + where, dv, width);
            // In halves: a difference of two values near the end of float32 is beyond it.
            const V half = all(0.5F), v = load_some(s.v + where, width, 0);
            store_some(g.dk + where, (dv + dv) * (v * half - R * half), width);
        }
    }
    return {.left = 1, .part = 0};  // one exact average for all: nothing cancels
}

}  // namespace aft::ops::cpu::AFT_CPU
