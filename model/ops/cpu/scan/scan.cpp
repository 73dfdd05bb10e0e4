// aft-simple (kernels.inl has the formula, numerics and figures) shared out among threads: by
// samples and blocks of channels where there are enough, else one long sample as a chunked prefix
// scan (chunked.cpp).
#include "model/ops/cpu/scan/scan.h"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/scan/chunked.h"

namespace aft::ops::cpu {

namespace {

// Results beyond this (8 MB of float32) are written past the caches: they would be evicted anyway.
constexpr int64_t kStreamed = int64_t{1} << 21;

// Samples, and where they are fewer than threads, ranges of channels.
struct ChannelRange {
    int64_t sample = 0, first = 0, channels = 0;
};

std::vector<ChannelRange> pieces(const ScanShape& shape) {
    constexpr int64_t kNarrowest = 64;  // one page of channels keeps the sweep efficient
    int64_t width = shape.channels;
    while (shape.batch * shape.channels < omp_get_max_threads() * width && width > kNarrowest)
        width = (width / 2 + kNarrowest - 1) / kNarrowest * kNarrowest;
    std::vector<ChannelRange> out;
    for (int64_t b = 0; b < shape.batch; ++b)
        for (int64_t c = 0; c < shape.channels; c += width)
            out.push_back({b, c, std::min(width, shape.channels - c)});
    return out;
}

template <class T>
Scan<T> part_of(const ScanShape& shape, const Scan<T>& x, const ChannelRange& piece) {
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

}  // namespace

template <class T>
bool scan_forward(const ScanShape& shape, const Scan<T>& x) {
    if (is_chunked(shape)) return chunked_forward(part_of(shape, x, {.channels = shape.channels}));
    const ScanTensorKernels<T>& k = scan_kernels().of<T>();
    const std::vector<ChannelRange> all = pieces(shape);
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite)
    for (const ChannelRange& piece : all) {
        const ScopedFlushToZero flush;
        finite = (shape.causal ? k.causal : k.noncausal)(part_of(shape, x, piece)) && finite;
    }
    return finite;
}

template <class T>
Norms scan_gradient(const ScanShape& shape, const ScanGradient<T>& x) {
    if (is_chunked(shape)) {
        ScanGradient<T> whole = x;
        whole.forward = part_of(shape, x.forward, {.channels = shape.channels});
        return chunked_gradient(whole);
    }
    const ScanTensorKernels<T>& k = scan_kernels().of<T>();
    const int64_t lanes = scan_kernels().lanes;
    const std::vector<ChannelRange> all = pieces(shape);
    // Their sum is taken in one order, as it decides whether the exact path is taken.
    const int64_t vectors = (shape.channels + lanes - 1) / lanes;
    std::vector<Norms> norms(static_cast<std::size_t>(shape.batch * vectors));
#pragma omp parallel for schedule(static)
    for (const ChannelRange& piece : all) {
        const ScopedFlushToZero flush;
        const int64_t d = shape.channels, at = piece.sample * shape.length * d + piece.first;
        const ScanGradient<T> part{
            .forward = part_of(shape, x.forward, piece),
            .dy = x.dy + at,
            .dq = moved(x.dq, at),
            .dk = x.dk + at,
            .dv = x.dv + at,
            .norms = norms.data() + piece.sample * vectors + piece.first / lanes};
        (shape.causal ? k.causal_gradient : k.noncausal_gradient)(part);
    }
    return total(norms);
}

template bool scan_forward(const ScanShape& shape, const Scan<float>& x);
template bool scan_forward(const ScanShape& shape, const Scan<Bf16>& x);
template Norms scan_gradient(const ScanShape& shape, const ScanGradient<float>& x);
template Norms scan_gradient(const ScanShape& shape, const ScanGradient<Bf16>& x);

}  // namespace aft::ops::cpu
