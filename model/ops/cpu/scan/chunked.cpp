// A chunked prefix scan: one long sample of causal aft-simple in chunks of rows that threads take
// in turn (chunk.inl, chunk_gradient.inl: formula and figures). A chunk passes its carry on before
// its rows are read again. A thread waits only for the carry of the chunk before its own, spinning
// for a short time, then yielding.
#include "model/ops/cpu/scan/chunked.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

namespace {

template <class T>
ScanGradient<T> rows_of(ScanGradient<T> x, int64_t first, int64_t rows) {
    Scan<T>& s = x.forward;
    const int64_t at = first * s.stride;
    s.q = moved(s.q, at);
    s.k += at;
    s.v += at;
    s.y = moved(s.y, at);
    s.states = moved(s.states, first / kCheckpointRows * 3 * s.state_row);
    s.length = std::min(rows, s.length - first);
    x.dy = moved(x.dy, at);
    x.dq = moved(x.dq, at);
    x.dk = moved(x.dk, at);
    x.dv = moved(x.dv, at);
    return x;
}

// The carries of a chunked prefix scan, passed from chunk to chunk. Chunks are claimed in order, so
// that no thread waits for a chunk that is not claimed yet. (Threads that share rows by channels
// instead load each other's halves of cache lines: 2.2 times slower forward.)
class CarryLookback {
  public:
    CarryLookback(int64_t chunks, int64_t size)
        : chunks_(chunks), size_(size), carries_(2 * size) {}

    // -> the next chunk, or chunks() at the end.
    int64_t next_chunk() { return next_.fetch_add(1); }
    [[nodiscard]] int64_t chunks() const { return chunks_; }

    // l.sums: of chunk i alone. next: buffer for the carry of the chunk before it, if there is one.
    template <class R, class T>
    void exchange_carry(int64_t i, ScanChunk<T>& l, const ChunkKernels<R, T>& kernels,
                        float* next) {
        const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(float);
        wait_for(i);
        if (i > 0) {
            std::memcpy(next, carry(i - 1), bytes);
            l.next = next;
        }
        if (i + 1 < chunks_) {
            if (i > 0) kernels.combine(l);
            std::memcpy(carry(i), l.sums, bytes);
        }
        done_.store(i + 1, std::memory_order_release);
    }

  private:
    // Two slots suffice: slot i - 2 is free once carry i - 1 was read, which precedes writing i.
    float* carry(int64_t i) { return carries_.data() + i % 2 * size_; }
    void wait_for(int64_t chunks) const {
        constexpr int kSpins = 2000;
        for (int spins = 0; done_.load(std::memory_order_acquire) < chunks; ++spins)
            if (spins < kSpins)
                _mm_pause();
            else
                std::this_thread::yield();
    }

    int64_t chunks_, size_;
    Buffer<float> carries_;
    std::atomic<int64_t> next_{0}, done_{0};
};

int64_t chunk_count(int64_t length, int64_t rows) {
    return (length + rows - 1) / rows;
}

// The scratch of one thread, and its loop over the chunks.
class ChunkWorker {
  public:
    ChunkWorker(int64_t state_row, int64_t scratch_size)
        : size_(3 * state_row), scratch_(scratch_size), states_(2 * size_) {}

    // Passes the result R of each chunk to use(R, chunk).
    template <class R, class T, class Rows, class Use>
    void work(CarryLookback& carries, const ChunkKernels<R, T>& kernels, const Rows& rows,
              const Use& use) {
        const ScopedFlushToZero flush;
        for (int64_t i = carries.next_chunk(); i < carries.chunks(); i = carries.next_chunk()) {
            ScanChunk<T> l = rows(i);
            l.scratch = scratch_.data();
            l.sums = states_.data();
            kernels.reduce(l);
            carries.exchange_carry(i, l, kernels, states_.data() + size_);
            use(kernels.finish(l), i);
        }
    }

  private:
    int64_t size_;
    Buffer<float> scratch_, states_;
};

// Allocated before the parallel region: no thread may fail for want of memory.
std::vector<ChunkWorker> chunk_workers(int64_t state_row, int64_t scratch_size) {
    std::vector<ChunkWorker> out;
    for (int i = 0; i < omp_get_max_threads(); ++i) out.emplace_back(state_row, scratch_size);
    return out;
}

}  // namespace

bool is_chunked(const ScanShape& shape) {
    return shape.causal && shape.batch == 1 && shape.length >= 1024;
}

template <class T>
bool chunked_forward(const Scan<T>& x) {
    const int64_t rows =
        std::clamp<int64_t>(32768 / x.channels / kCheckpointRows, 1, 32) * kCheckpointRows;
    CarryLookback carries(chunk_count(x.length, rows), 3 * x.state_row);
    std::vector<ChunkWorker> workers = chunk_workers(x.state_row, 0);
    bool finite = true;
#pragma omp parallel reduction(&& : finite)
    workers[static_cast<std::size_t>(omp_get_thread_num())].work(
        carries, scan_kernels().of<T>().chunk,
        [&](int64_t i) {
            Scan<T> chunk = x;
            const int64_t next = i + omp_get_num_threads();
            chunk.prefetch_rows = (next + 1) * rows <= x.length ? (next - i) * rows : 0;
            return ScanChunk<T>{.rows = rows_of(ScanGradient<T>{.forward = chunk}, i * rows, rows)};
        },
        [&](bool good, int64_t) { finite = finite && good; });
    return finite;
}

template <class T>
Norms chunked_gradient(const ScanGradient<T>& x) {
    const int64_t chunks = chunk_count(x.forward.length, kCheckpointRows);
    CarryLookback carries(chunks, 3 * x.forward.state_row);
    Buffer<float> mean(x.forward.channels);
    scan_kernels().of<T>().mean(x.forward, mean.data());
    std::vector<Norms> norms(static_cast<std::size_t>(chunks));
    std::vector<ChunkWorker> workers =
        chunk_workers(x.forward.state_row, scan_kernels().scratch_size(x.forward.channels));
#pragma omp parallel
    workers[static_cast<std::size_t>(omp_get_thread_num())].work(
        carries, scan_kernels().of<T>().chunk_gradient,
        [&](int64_t i) {
            const int64_t chunk = chunks - 1 - i, distance = omp_get_num_threads();
            return ScanChunk<T>{
                .rows = rows_of(x, chunk * kCheckpointRows, kCheckpointRows),
                .mean = mean.data(),
                .prefetch_rows = distance <= chunk ? distance * kCheckpointRows : 0};
        },
        [&](const Norms& n, int64_t i) { norms[static_cast<std::size_t>(i)] = n; });
    return total(norms);
}

template bool chunked_forward(const Scan<float>& x);
template bool chunked_forward(const Scan<Bf16>& x);
template Norms chunked_gradient(const ScanGradient<float>& x);
template Norms chunked_gradient(const ScanGradient<Bf16>& x);

}  // namespace aft::ops::cpu
