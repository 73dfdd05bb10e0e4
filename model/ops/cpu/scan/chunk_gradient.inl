// Gradient of one long sample of causal aft-simple (formulas: gradient.inl) as a chunked prefix
// scan over kCheckpointRows rows each, from the last to the first, O(T d). SA and SC are all that
// comes from the chunks after this one: it computes x, A and C of its rows, which stay in the
// second-level cache, passes its sums on as a carry, added to the one it was given, and walks back
// over its rows. T = 65536, d = 256 took 14 to 19 ms on two cores where they copy 50 GB/s, 19 to 24
// ms where they share the channels (each loads the other half of a cache line, too). Included
// once per instruction set.
#pragma once
#include "model/ops/cpu/scan/chunk.inl"

namespace aft::ops::cpu::AFT_CPU {

AFT_INLINE int64_t vectors_of(int64_t channels) {
    return (channels + kLanes - 1) / kLanes;
}

static int64_t scan_scratch_size(int64_t channels) {
    return vectors_of(channels) * static_cast<int64_t>(sizeof(BackColumn) / sizeof(float));
}

template <class T>
static void scan_centre(const Scan<T>& s, float* mean) {
    for (int64_t at = 0; at < s.channels; at += kLanes)
        store_partial(mean + at, centre(s, at), s.channels - at);
}

template <class T>
AFT_INLINE BackColumn& column_at(const ScanChunk<T>& l, int64_t at) {
    return reinterpret_cast<BackColumn*>(l.scratch)[at / kLanes];
}
template <class T>
AFT_INLINE ScanPart rows_at(const ScanChunk<T>& l, int64_t at) {
    const Scan<T>& s = l.rows.forward;
    return {at,
            0,
            s.length,
            load_partial(l.mean + at, s.channels - at, 0),
            &column_at(l, at).rows,
            at,
            s.stride};
}

// Keys and values, then queries and gradients, of the chunk that this thread takes next.
template <class T>
AFT_INLINE PrefetchCursor next_chunk(const ScanChunk<T>& l) {
    if (l.prefetch_rows == 0) return {};
    const Scan<T>& s = l.rows.forward;
    return prefetch_rows(-l.prefetch_rows * s.stride, vectors_of(s.channels), s.stride);
}

// SA and SC of the chunk's own rows before its first row, at the reference there.
AFT_INLINE RunningSums chunk_sums(const ScanPart& p, V m) {
    V SA = set1(0), SC = set1(0);
    for (int64_t i = p.end - 1; i >= 0; --i) {
        SA = SA + load(p.column->a + i * kLanes);
        SC = SC + load(p.column->c + i * kLanes);
        if (__builtin_expect(p.column->raised[i], 0)) {
            const V by = load(p.column->by + i * kLanes);
            SA = ldexp(SA, by);
            SC = ldexp(SC, by);
        }
    }
    return {m, SA, SC};
}

template <Access access, bool has_gate, class T>
AFT_INLINE void replay_chunk(const ScanChunk<T>& l) {
    const Scan<T>& s = l.rows.forward;
    PrefetchCursor keys = next_chunk(l);
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        const ScanPart part = rows_at(l, at);
        const V last = replay<access, has_gate>(l.rows, part, keys);
        store(column_at(l, at).last, last);
        save(s, l.sums, at, chunk_sums(part, load_partial(kept(s, 0) + at, s.channels - at, 0)));
    }
}

// Parts of lines (gradient_rows) are not streamed.
template <class T>
AFT_INLINE Access chunk_access(const ScanChunk<T>& l) {
    const Access access = gradient_access(l.rows);
    return access == Access::streamed && sizeof(T) == sizeof(Bf16) ? Access::full : access;
}

template <class T>
static void chunk_gradient_reduce(const ScanChunk<T>& l) {
    const bool has_gate = l.rows.forward.q != nullptr;
    switch (chunk_access(l)) {
        case Access::streamed:
            return has_gate ? replay_chunk<Access::streamed, true>(l)
                            : replay_chunk<Access::streamed, false>(l);
        case Access::full:
            return has_gate ? replay_chunk<Access::full, true>(l)
                            : replay_chunk<Access::full, false>(l);
        default:
            return has_gate ? replay_chunk<Access::some, true>(l)
                            : replay_chunk<Access::some, false>(l);
    }
}

template <class T>
static void chunk_gradient_combine(const ScanChunk<T>& l) {
    const Scan<T>& s = l.rows.forward;
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        RunningSums next = loaded(s, l.next, at);
        const RunningSums scratch = loaded(s, l.sums, at);
        rescale(next, next.m, scratch.m);
        save(s, l.sums, at, {scratch.m, scratch.n + next.n, scratch.d + next.d});
    }
}

template <Access access, class T>
AFT_INLINE Norms walk_chunk_back(const ScanChunk<T>& l) {
    const Scan<T>& s = l.rows.forward;
    PrefetchCursor queries = next_chunk(l);
    Squares total{set1(0), set1(0)};
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        const ScanPart part = rows_at(l, at);
        RunningSums later{set1(0), set1(0), set1(0)};
        if (l.next != nullptr) {
            later = loaded(s, l.next, at);  // but lanes past the channels have no sums here
            later.d = load_partial(l.next + 2 * s.state_row + at, s.channels - at, 0);
            rescale(later, later.m, load(column_at(l, at).last));
        }
        const Squares more = walk_back<access>(l.rows, part, queries, later);
        total = {total.left + more.left, total.part + more.part};
    }
    _mm_sfence();
    return {reduce_add(total.left), reduce_add(total.part)};
}

template <class T>
static Norms chunk_gradient_finish(const ScanChunk<T>& l) {
    switch (chunk_access(l)) {
        case Access::streamed:
            return walk_chunk_back<Access::streamed>(l);
        case Access::full:
            return walk_chunk_back<Access::full>(l);
        default:
            return walk_chunk_back<Access::some>(l);
    }
}

}  // namespace aft::ops::cpu::AFT_CPU
