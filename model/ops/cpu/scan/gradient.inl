// Gradient of causal aft-simple (kernels.inl): with P = dY sigmoid(Q), R = N / D, mu any centre of
// V, A_t = P_t / D_t and C_t = A_t (mu - R_t), one walk back over memory, O(T d), gives
//
//   SA_j = sum_{t>=j} A_t, SC_j = sum_{t>=j} C_t (both at the reference m_j),  x_j = 2^(k_j-m_j)
//   dQ = P R (1 - sigmoid(Q)),  dV_j = x_j SA_j,  dK_j = dV_j (V_j - mu) + x_j SC_j
//
// N, D, m of each kCheckpointRows rows are recomputed from the state kept at its start, for one
// vector of channels at a time, so that they never leave the first-level cache; the chunk before it
// is prefetched meanwhile (1.3 times slower without). B = 4, T = 3072, d = 256 takes 3.2 ms on two
// cores (6.9 ms with the sums of all channels in the second-level cache and no prefetch), 1.7 times
// the time of copying as many bytes. Included once per instruction set.
#pragma once
#include "model/ops/cpu/scan/kernels.inl"

namespace aft::ops::cpu::AFT_CPU {

// Squared norms of dK and of its first term: the test for cancellation.
struct Squares {
    V left, part;
};

// Recomputed x, A, C of one chunk's rows, for one vector of channels: input of the walk back.
struct ChunkColumn {
    alignas(64) float x[kCheckpointRows * kLanes], a[kCheckpointRows * kLanes],
        c[kCheckpointRows * kLanes];
    alignas(64) float by[kCheckpointRows * kLanes];  // where m was raised: old m - new m
    bool raised[kCheckpointRows];
};

// The same for a chunk of the prefix scan, with the reference after its last row.
struct BackColumn {
    ChunkColumn rows;
    alignas(64) float last[kLanes];
};

// Prefetches the previous chunk, line by line in the order of memory.
struct PrefetchCursor {
    int64_t where = 0, left = 0, vectors = 0, skip = 0;
};
AFT_INLINE PrefetchCursor prefetch_rows(int64_t where, int64_t vectors, int64_t stride) {
    return {where, vectors, vectors, stride - vectors * kLanes};
}
template <class T>
AFT_INLINE void prefetch_next(PrefetchCursor& f, const T* a, const T* b) {
    if (f.vectors == 0) return;
    _mm_prefetch(reinterpret_cast<const char*>(a + f.where), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(b + f.where), _MM_HINT_T0);
    f.where += kLanes;
    if (--f.left > 0) return;
    f.left = f.vectors;
    f.where += f.skip;
}

// Rows [begin, end) of one vector of channels.
struct ScanPart {
    int64_t at = 0, begin = 0, end = 0;
    V mean;
    ChunkColumn* column = nullptr;
    int64_t out = 0, out_row = 0;  // where the results of row `begin` go, and to the next row's
};

// The centre mu: the mean of some rows, close to that of all. Cancellation against it is then
// bounded by the spread of V, as is_trusted() assumes. (R of the last row would be nearer to R, but
// hides it.)
template <class T>
AFT_INLINE V centre(const Scan<T>& s, int64_t at) {
    constexpr int64_t kRows = 64;
    const int64_t step = (s.length + kRows - 1) / kRows, width = s.channels - at;
    V mean = set1(0);
    for (int64_t row = 0; row < s.length; row += step)
        mean = mean + load_partial(s.v + row * s.stride + at, width, 0);
    mean = mean * set1(1.0F / static_cast<float>((s.length + step - 1) / step));
    return select_ge(mean * set1(0), set1(0), mean, set1(0));  // none if not finite
}

// A, C and dQ of one row.
struct RowTerms {
    V a, c, dq;
};
// The one division 1 / (D (1 + e^-Q)) gives all of them; beyond e^-Q = 2^96 there is nothing left.
AFT_INLINE RowTerms gated_terms(const RunningSums& now, V dy, V q, V mean) {
    const V e = exp_of_negative(q), u = set1(1) + e;
    const V t = set1(1) / (now.d * u), A = dy * t, R = now.n * (t * u);
    return {A, A * (mean - R), A * now.d * (t * now.d * e) * R};
}
AFT_INLINE RowTerms plain_terms(const RunningSums& now, V dy, V mean) {
    const V t = set1(1) / now.d, A = dy * t;
    return {A, A * (mean - now.n * t), A};
}

// Rows of the chunk again, forward -> m after the last.
template <Access access, bool has_gate, class T>
AFT_INLINE V replay(const ScanGradient<T>& g, const ScanPart& p, PrefetchCursor& next) {
    const Scan<T> s = g.forward;
    ChunkColumn& column = *p.column;
    const int64_t width = s.channels - p.at;
    RunningSums now = loaded(s, kept(s, p.begin / kCheckpointRows), p.at);
    for (int64_t row = p.begin; row < p.end; ++row) {
        const int64_t where = row * s.stride + p.at, i = row - p.begin;
        prefetch_next(next, s.k, s.v);
        const V k = read<access>(s.k + where, width);
        V bits = to_log2(k, now.m);
        column.raised[i] = any_ge(bits, set1(kRaise));
        if (__builtin_expect(column.raised[i], 0)) {
            store(column.by + i * kLanes, raise(now, k, bits));
            bits = to_log2(k, now.m);
        }
        const V x = exp2_fast(bits);
        now.n = fma(x, read<access>(s.v + where, width), now.n);
        now.d = x + now.d;
        const V dy = read<access>(g.dy + where, width);
        const RowTerms terms = has_gate
                                   ? gated_terms(now, dy, read<access>(s.q + where, width), p.mean)
                                   : plain_terms(now, dy, p.mean);
        if (has_gate) write<access>(g.dq + p.out + i * p.out_row, terms.dq, width);
        store(column.x + i * kLanes, x);
        store(column.a + i * kLanes, terms.a);
        store(column.c + i * kLanes, terms.c);
    }
    return now.m;
}

// Sums of later rows, from the reference that those begin at to that which these end at: in a
// chunked scan a carry has a reference of its own (chunk.inl).
AFT_INLINE void rescale(RunningSums& later, V from, V to) {
    later.n = ldexp(later.n, to - from);
    later.d = ldexp(later.d, to - from);
}

// SA in n, SC in d.
template <Access access, class T>
AFT_INLINE Squares walk_back(const ScanGradient<T>& g, const ScanPart& p, PrefetchCursor& next,
                             RunningSums& later) {
    Squares out{set1(0), set1(0)};
    const Scan<T> s = g.forward;
    const ChunkColumn& column = *p.column;
    const int64_t width = s.channels - p.at;
    V SA = later.n, SC = later.d;
    for (int64_t row = p.end - 1; row >= p.begin; --row) {
        const int64_t where = row * s.stride + p.at, i = row - p.begin;
        prefetch_next(next, s.q != nullptr ? s.q : s.k, g.dy);
        const V x = load(column.x + i * kLanes);
        SA = SA + load(column.a + i * kLanes);
        SC = SC + load(column.c + i * kLanes);
        const V dv = x * SA, part = dv * (read<access>(s.v + where, width) - p.mean);
        const V dk = fma(x, SC, part);
        write<access>(g.dv + p.out + i * p.out_row, dv, width);
        write<access>(g.dk + p.out + i * p.out_row, dk, width);
        out = {fma(dk, dk, out.left), fma(part, part, out.part)};
        if (__builtin_expect(column.raised[i], 0)) {
            const V by = load(column.by + i * kLanes);
            SA = ldexp(SA, by);
            SC = ldexp(SC, by);
        }
    }
    later.n = SA;
    later.d = SC;
    return out;
}

// Squares of a block's channels: one partial sum per vector, so that the order of summation does
// not depend on the blocking.
struct BlockSquares {
    float left[kScanWidth], part[kScanWidth];
};
AFT_INLINE void add(BlockSquares& total, int64_t at, const Squares& more) {
    store(total.left + at, load(total.left + at) + more.left);
    store(total.part + at, load(total.part + at) + more.part);
}

// A vector of bfloat16 is a part of a line, and the next part comes a chunk later: results that are
// streamed are collected to whole lines of kLine numbers first. T = 3072, d = 256, B = 4 on one
// core (AVX-512, Intel Xeon) took 12.2 ms with parts streamed, 6.0 with parts written through the
// caches, and takes 5.0.
constexpr int64_t kLine = 32;
struct LineBuffers {
    alignas(64) Bf16 dq[kCheckpointRows * kLine], dk[kCheckpointRows * kLine],
        dv[kCheckpointRows * kLine];
};
AFT_INLINE void stream_lines(const Bf16* from, int64_t rows, Bf16* to, int64_t stride) {
    for (int64_t i = 0; i < rows; ++i, from += kLine, to += stride)
        for (int64_t c = 0; c < kLine; c += 8)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + c),
                             _mm_load_si128(reinterpret_cast<const __m128i*>(from + c)));
}

// The line that ends with this vector of channels.
template <bool has_gate>
AFT_INLINE void write_lines(const ScanGradient<Bf16>& g, const LineBuffers& lines,
                            const ScanPart& p) {
    const int64_t stride = g.forward.stride, rows = p.end - p.begin;
    const int64_t where = p.begin * stride + p.at / kLine * kLine;
    if (has_gate) stream_lines(lines.dq, rows, g.dq + where, stride);
    stream_lines(lines.dk, rows, g.dk + where, stride);
    stream_lines(lines.dv, rows, g.dv + where, stride);
}

template <Access access, bool has_gate, class T>
AFT_INLINE void gradient_rows(const ScanGradient<T>& g, const ScanBlock& b) {
    const Scan<T> s = g.forward;
    BlockSquares total;
    ChannelStates states;  // the mean in m
    ChunkColumn column;
    constexpr bool collects = access == Access::streamed && sizeof(T) == sizeof(Bf16);
    constexpr Access as = collects ? Access::full : access;
    LineBuffers lines;
    ScanGradient<T> to = g;
    if constexpr (collects) {
        to.dq = lines.dq;
        to.dk = lines.dk;
        to.dv = lines.dv;
    }
    for (int64_t at = b.base; at < b.end; at += kLanes) {
        put_state(states, at - b.base, {centre(s, at), set1(0), set1(0)});
        store(total.left + at - b.base, set1(0));
        store(total.part + at - b.base, set1(0));
    }
    const int64_t vectors = (b.end - b.base + kLanes - 1) / kLanes;
    for (int64_t begin = (s.length - 1) / kCheckpointRows * kCheckpointRows; begin >= 0;
         begin -= kCheckpointRows) {
        const int64_t end = begin + kCheckpointRows < s.length ? begin + kCheckpointRows : s.length;
        const int64_t before = (begin - kCheckpointRows) * s.stride + b.base;
        PrefetchCursor keys;
        if (before >= 0) keys = prefetch_rows(before, vectors, s.stride);
        PrefetchCursor queries = keys;
        for (int64_t at = b.base; at < b.end; at += kLanes) {
            RunningSums later = state_at(states, at - b.base);
            ScanPart part{at, begin, end, later.m, &column, begin * s.stride + at, s.stride};
            if (collects) part.out = at % kLine, part.out_row = kLine;
            const V m = replay<as, has_gate>(to, part, keys);
            if (end < s.length)
                rescale(later,
                        load_partial(kept(s, end / kCheckpointRows) + at, s.channels - at, 0), m);
            add(total, at - b.base, walk_back<as>(to, part, queries, later));
            put_state(states, at - b.base, later);
            if constexpr (collects) {
                if ((at + kLanes) % kLine == 0) write_lines<has_gate>(g, lines, part);
            }
        }
    }
    for (int64_t at = b.base; at < b.end; at += kLanes)
        g.norms[at / kLanes] = {reduce_add(load(total.left + at - b.base)),
                                reduce_add(load(total.part + at - b.base))};
}

template <class T>
AFT_INLINE Access gradient_access(const ScanGradient<T>& g) {
    const Access access = access_of(g.forward, g.dk);
    const int64_t part = sizeof(T) == sizeof(Bf16) ? kLine : kLanes;  // of what is streamed
    const auto aligned = [&](const T* p) {
        return reinterpret_cast<uintptr_t>(p) % (static_cast<uintptr_t>(part) * sizeof(T)) == 0;
    };
    const bool can = g.forward.stride % part == 0 && g.forward.channels % part == 0 &&
                     aligned(g.dk) && aligned(g.dv) && aligned(g.dq);
    return access == Access::streamed && !can ? Access::full : access;
}

template <bool has_gate, class T>
AFT_INLINE void gradient_block(const ScanGradient<T>& g, const ScanBlock& b) {
    switch (gradient_access(g)) {
        case Access::streamed:
            return gradient_rows<Access::streamed, has_gate>(g, b);
        case Access::full:
            return gradient_rows<Access::full, has_gate>(g, b);
        default:
            return gradient_rows<Access::some, has_gate>(g, b);
    }
}

template <class T>
static void scan_gradient(const ScanGradient<T>& g) {
    for_blocks(g.forward, [&](const ScanBlock& b) {
        g.forward.q != nullptr ? gradient_block<true>(g, b) : gradient_block<false>(g, b);
    });
    _mm_sfence();
}

}  // namespace aft::ops::cpu::AFT_CPU
