// One long sample of causal aft-simple in links of rows, which threads take in turn (scan_link.inl,
// scan_back.inl: formula and figures): a link's sums are handed on before its rows are walked over
// again. A thread waits only for the link before its own, with short spins and then yields.
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
    s.states = moved(s.states, first / kScanChunk * 3 * s.state_row);
    s.length = std::min(rows, s.length - first);
    x.dy = moved(x.dy, at);
    x.dq = moved(x.dq, at);
    x.dk = moved(x.dk, at);
    x.dv = moved(x.dv, at);
    return x;
}

// Hands each link's sums to the next. Links are taken in order, so that no thread waits for one
// that nobody has. (Threads that share rows by channels instead fetch each other's halves too: 2.2
// times slower forward.)
class Chain {
  public:
    Chain(int64_t links, int64_t size) : links_(links), size_(size), handed_(2 * size) {}

    // -> the next link that nobody has, or links().
    int64_t take() { return taken_.fetch_add(1); }
    [[nodiscard]] int64_t links() const { return links_; }

    // l.sums: of link i alone. next: room for what the link before it handed on, if there is one.
    template <class R, class T>
    void join(int64_t i, ScanLink<T>& l, const LinkKernels<R, T>& kernels, float* next) {
        const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(float);
        wait_for(i);
        if (i > 0) {
            std::memcpy(next, handed(i - 1), bytes);
            l.next = next;
        }
        if (i + 1 < links_) {
            if (i > 0) kernels.join(l);
            std::memcpy(handed(i), l.sums, bytes);
        }
        done_.store(i + 1, std::memory_order_release);
    }

  private:
    // Two are enough: whoever writes i has read i - 1, whose writer had read i - 2.
    float* handed(int64_t i) { return handed_.data() + i % 2 * size_; }
    void wait_for(int64_t links) const {
        constexpr int kSpins = 2000;
        for (int spins = 0; done_.load(std::memory_order_acquire) < links; ++spins)
            if (spins < kSpins)
                _mm_pause();
            else
                std::this_thread::yield();
    }

    int64_t links_, size_;
    Buffer<float> handed_;
    std::atomic<int64_t> taken_{0}, done_{0};
};

int64_t links_of(int64_t length, int64_t rows) {
    return (length + rows - 1) / rows;
}

// What one thread needs besides, and its way through a chain.
class Worker {
  public:
    Worker(int64_t state_row, int64_t room)
        : size_(3 * state_row), own_(room), states_(2 * size_) {}

    // What R each link ends with goes to use(R, link).
    template <class R, class T, class Rows, class Use>
    void work(Chain& chain, const LinkKernels<R, T>& kernels, const Rows& rows, const Use& use) {
        const FlushTiny flush;
        for (int64_t i = chain.take(); i < chain.links(); i = chain.take()) {
            ScanLink<T> l = rows(i);
            l.own = own_.data();
            l.sums = states_.data();
            kernels.begin(l);
            chain.join(i, l, kernels, states_.data() + size_);
            use(kernels.end(l), i);
        }
    }

  private:
    int64_t size_;
    Buffer<float> own_, states_;
};

// Made before the threads meet: none of them may fail for want of memory.
std::vector<Worker> workers_for(int64_t state_row, int64_t room) {
    std::vector<Worker> out;
    for (int i = 0; i < omp_get_max_threads(); ++i) out.emplace_back(state_row, room);
    return out;
}

}  // namespace

bool is_chained(const ScanShape& shape) {
    return shape.causal && shape.batch == 1 && shape.length >= 1024;
}

template <class T>
bool chain_forward(const Scan<T>& x) {
    const int64_t rows = std::clamp<int64_t>(32768 / x.channels / kScanChunk, 1, 32) * kScanChunk;
    Chain chain(links_of(x.length, rows), 3 * x.state_row);
    std::vector<Worker> workers = workers_for(x.state_row, 0);
    bool finite = true;
#pragma omp parallel reduction(&& : finite)
    workers[static_cast<std::size_t>(omp_get_thread_num())].work(
        chain, kernels().of<T>().scan_link,
        [&](int64_t i) {
            Scan<T> link = x;
            const int64_t next = i + omp_get_num_threads();
            link.ahead = (next + 1) * rows <= x.length ? (next - i) * rows : 0;
            return ScanLink<T>{.rows = rows_of(ScanGradient<T>{.forward = link}, i * rows, rows)};
        },
        [&](bool good, int64_t) { finite = finite && good; });
    return finite;
}

template <class T>
Norms chain_gradient(const ScanGradient<T>& x) {
    const int64_t links = links_of(x.forward.length, kScanChunk);
    Chain chain(links, 3 * x.forward.state_row);
    Buffer<float> mean(x.forward.channels);
    kernels().of<T>().scan_centre(x.forward, mean.data());
    std::vector<Norms> norms(static_cast<std::size_t>(links));
    std::vector<Worker> workers =
        workers_for(x.forward.state_row, kernels().scan_room(x.forward.channels));
#pragma omp parallel
    workers[static_cast<std::size_t>(omp_get_thread_num())].work(
        chain, kernels().of<T>().scan_link_gradient,
        [&](int64_t i) {
            const int64_t link = links - 1 - i, ahead = omp_get_num_threads();
            return ScanLink<T>{.rows = rows_of(x, link * kScanChunk, kScanChunk),
                               .mean = mean.data(),
                               .ahead = ahead <= link ? ahead * kScanChunk : 0};
        },
        [&](const Norms& n, int64_t i) { norms[static_cast<std::size_t>(i)] = n; });
    return total(norms);
}

template bool chain_forward(const Scan<float>& x);
template bool chain_forward(const Scan<Half>& x);
template Norms chain_gradient(const ScanGradient<float>& x);
template Norms chain_gradient(const ScanGradient<Half>& x);

}  // namespace aft::ops::cpu
