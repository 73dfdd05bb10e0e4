#include "model/ops/cpu/scan.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "model/ops/cpu/buffer.h"

namespace aft::ops::cpu {

namespace {

// Results beyond this (8 MB) are written past the caches: nobody finds them there later.
constexpr int64_t kStreamed = int64_t{1} << 21;

// Samples, and where they are fewer than threads, ranges of channels.
struct Piece {
    int64_t sample = 0, first = 0, channels = 0;
};

std::vector<Piece> pieces(const ScanShape& shape) {
    constexpr int64_t kNarrowest = 64;  // one page of channels keeps the sweep efficient
    int64_t width = shape.channels;
    while (shape.batch * shape.channels < omp_get_max_threads() * width && width > kNarrowest)
        width = (width / 2 + kNarrowest - 1) / kNarrowest * kNarrowest;
    std::vector<Piece> out;
    for (int64_t b = 0; b < shape.batch; ++b)
        for (int64_t c = 0; c < shape.channels; c += width)
            out.push_back({b, c, std::min(width, shape.channels - c)});
    return out;
}

template <class T>
T* moved(T* p, int64_t by) {
    return p == nullptr ? nullptr : p + by;
}

Scan part_of(const ScanShape& shape, const Scan& x, const Piece& piece) {
    const int64_t d = shape.channels, at = piece.sample * shape.length * d + piece.first;
    return {.q = moved(x.q, at),
            .k = x.k + at,
            .v = x.v + at,
            .stride = d,
            .length = shape.length,
            .channels = piece.channels,
            .y = moved(x.y, at),
            .streams = shape.batch * shape.length * d > kStreamed,
            .states = moved(x.states, piece.sample * shape.kept() * 3 * d + piece.first),
            .state_row = d};
}

Scan rows_of(Scan x, int64_t first, int64_t rows) {
    const int64_t at = first * x.stride;
    x.q = moved(x.q, at);
    x.k += at;
    x.v += at;
    x.y += at;
    x.states = moved(x.states, first / kScanChunk * 3 * x.state_row);
    x.length = std::min(rows, x.length - first);
    return x;
}

// One long sample, in links of rows whose keys and values stay in the second-level cache: whoever
// takes a link sums it, adds what is before it, hands that on and only then walks over it again.
// Threads that share rows by channels instead fetch each other's halves too: 2.2 times slower.
class Chain {
  public:
    Chain(const ScanShape& shape, const Scan& x)
        : whole_(part_of(shape, x, {.channels = shape.channels})),
          rows_(std::clamp<int64_t>(32768 / shape.channels / kScanChunk, 1, 32) * kScanChunk),
          links_((shape.length + rows_ - 1) / rows_),
          handed_(2 * 3 * shape.channels) {}

    // One thread's share; before: room for two states. Links are taken in order, so that no thread
    // waits for one that nobody has.
    bool work(float* before) {
        bool finite = true;
        for (int64_t i = taken_.fetch_add(1); i < links_; i = taken_.fetch_add(1))
            finite = link(i, before) && finite;
        return finite;
    }

  private:
    bool link(int64_t i, float* before) {
        Scan part = rows_of(whole_, i * rows_, rows_);
        const int64_t size = 3 * part.state_row;
        float* const sums = before + size;
        if (i + 1 < links_) kernels().scan_sums(part, sums);
        wait_for(i);
        if (i > 0) {
            std::memcpy(before, handed(i - 1), static_cast<size_t>(size) * sizeof(float));
            part.before = before;
        }
        if (i + 1 < links_) {
            if (i > 0) kernels().scan_join(part, sums);
            std::memcpy(handed(i), sums, static_cast<size_t>(size) * sizeof(float));
        }
        done_.store(i + 1, std::memory_order_release);
        return kernels().scan(part);
    }
    // Two are enough: whoever writes i has read i - 1, whose writer had read i - 2.
    float* handed(int64_t i) { return handed_.data() + i % 2 * 3 * whole_.state_row; }
    void wait_for(int64_t links) const {
        constexpr int kSpins = 2000;
        for (int spins = 0; done_.load(std::memory_order_acquire) < links; ++spins)
            if (spins < kSpins)
                _mm_pause();
            else
                std::this_thread::yield();
    }

    Scan whole_;
    int64_t rows_, links_;
    Buffer<float> handed_;
    std::atomic<int64_t> taken_{0}, done_{0};
};

// The same whatever the number of threads: a chain adds in another order.
bool is_chained(const ScanShape& shape) {
    return shape.causal && shape.batch == 1 && shape.length >= 1024;
}

bool chained_forward(const ScanShape& shape, const Scan& x) {
    Chain chain(shape, x);
    const int64_t room = 6 * shape.channels;
    Buffer<float> states(omp_get_max_threads() * room);
    bool finite = true;
#pragma omp parallel reduction(&& : finite)
    finite = chain.work(states.data() + omp_get_thread_num() * room) && finite;
    return finite;
}

}  // namespace

bool scan_forward(const ScanShape& shape, const Scan& x) {
    if (is_chained(shape)) return chained_forward(shape, x);
    const Kernels& k = kernels();
    const std::vector<Piece> all = pieces(shape);
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite)
    for (const Piece& piece : all)
        finite = (shape.causal ? k.scan : k.scan_all)(part_of(shape, x, piece)) && finite;
    return finite;
}

Norms scan_gradient(const ScanShape& shape, const ScanGradient& x) {
    const Kernels& k = kernels();
    const std::vector<Piece> all = pieces(shape);
    // Their sum is taken in one order, as it decides whether the exact path is taken.
    const int64_t vectors = (shape.channels + k.lanes - 1) / k.lanes;
    std::vector<Norms> norms(static_cast<std::size_t>(shape.batch * vectors));
#pragma omp parallel for schedule(static)
    for (const Piece& piece : all) {
        const int64_t d = shape.channels, at = piece.sample * shape.length * d + piece.first;
        const ScanGradient part{
            .forward = part_of(shape, x.forward, piece),
            .dy = x.dy + at,
            .dq = moved(x.dq, at),
            .dk = x.dk + at,
            .dv = x.dv + at,
            .norms = norms.data() + piece.sample * vectors + piece.first / k.lanes};
        (shape.causal ? k.scan_gradient : k.scan_all_gradient)(part);
    }
    Norms total;
    for (const Norms& n : norms) {
        total.left += n.left;
        total.part += n.part;
    }
    return total;
}

}  // namespace aft::ops::cpu
