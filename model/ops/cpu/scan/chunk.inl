// One chunk of a chunked prefix scan: one long sample of causal aft-simple (kernels.inl) in chunks
// of rows (chunked.cpp), O(T d). A chunk is reduced to its sums, combined with the carry before it
// and passed on, and only then read again, now from the second-level cache, starting from the
// carry. Kept N and D of each row would save the second exponential, and took as long. The first
// pass prefetches the queries, the second the thread's next keys and values: with T = 65536, d =
// 256, 13.6 ms on two cores (34 GB/s of copying) became 10.3. Included once per instruction set.
#pragma once
#include "model/ops/cpu/scan/noncausal.inl"

namespace aft::ops::cpu::AFT_CPU {

template <class T>
static void chunk_reduce(const ScanChunk<T>& l) {
    const Scan<T>& s = l.rows.forward;
    for_blocks(s, [&](const ScanBlock& b) {
        ChannelStates states;
        sum_block(s, b, states);
        for (int64_t at = b.base; at < b.end; at += kLanes)
            save(s, l.sums, at, state_at(states, at - b.base));
    });
}

template <class T>
static void chunk_combine(const ScanChunk<T>& l) {
    const Scan<T>& s = l.rows.forward;
    for (int64_t at = 0; at < s.channels; at += kLanes) {
        const RunningSums a = loaded(s, l.next, at), b = loaded(s, l.sums, at);
        const V m = max(a.m, b.m), of_a = a.m - m, of_b = b.m - m;
        save(s, l.sums, at,
             {m, ldexp(a.n, of_a) + ldexp(b.n, of_b), ldexp(a.d, of_a) + ldexp(b.d, of_b)});
    }
}

template <class T>
static bool chunk_finish(const ScanChunk<T>& l) {
    Scan<T> rows = l.rows.forward;
    rows.before = l.next;
    return scan(rows);
}

}  // namespace aft::ops::cpu::AFT_CPU
