#include "model/ops/cpu/scan.h"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace aft::ops::cpu {

namespace {

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
    const int64_t chunks = (shape.length + kScanChunk - 1) / kScanChunk;
    return {.q = moved(x.q, at),
            .k = x.k + at,
            .v = x.v + at,
            .stride = d,
            .length = shape.length,
            .channels = piece.channels,
            .y = moved(x.y, at),
            .states = moved(x.states, piece.sample * chunks * 3 * d + piece.first),
            .state_row = d};
}

}  // namespace

bool scan_forward(const ScanShape& shape, const Scan& x) {
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
    std::vector<Norms> norms(all.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Piece& piece = all[i];
        const int64_t d = shape.channels, at = piece.sample * shape.length * d + piece.first;
        const ScanGradient part{.forward = part_of(shape, x.forward, piece),
                                .dy = x.dy + at,
                                .mean = x.mean + piece.sample * d + piece.first,
                                .dq = moved(x.dq, at),
                                .dk = x.dk + at,
                                .dv = x.dv + at};
        norms[i] = (shape.causal ? k.scan_gradient : k.scan_all_gradient)(part);
    }
    Norms total;
    for (const Norms& n : norms) {
        total.left += n.left;
        total.part += n.part;
    }
    return total;
}

}  // namespace aft::ops::cpu
