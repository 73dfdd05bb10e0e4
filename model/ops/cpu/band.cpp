// Forward: N_t = sum_j E_tj X_j V_j, D_t = sum_j E_tj X_j with E = exp(w), X = exp(K); Y =
// sigmoid(Q) N / D (paper Eq. 2). Tiles of kTile targets. The tile's weights are made once and meet
// every sample and block of channels; the part outside the band is one more source whose operand is
// the running sum of everything before (and after) it.
#include "model/ops/cpu/band.h"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace aft::ops::cpu {

namespace {

// Weights of one tile, and the sums of one sample and block of channels at a time.
struct Tile {
    WeightScratch scratch;
    RowScales scales{kTile};
    Buffer<float> weights, sums;
    int64_t row = 0, span = 0;  // first target; floats of a row of weights
    Sources sources[kBlocks];   // of each kRows targets
    int64_t blocks = 0;         // of kRows targets in use

    Tile(const Weights& all, const Kernels& kernels, int64_t widest)
        : scratch(all.scratch()),
          weights(kTile * (widest + 2 * kernels.lanes), true),
          sums(kTile * 2 * kernels.channels, true),
          span(widest + 2 * kernels.lanes) {}

    [[nodiscard]] const float* weight(int64_t block, int64_t source) const {
        return weights.data() + block * kRows * span + source - sources[block].begin;
    }
};

class Forward {
  public:
    Forward(const BandShape& shape, const BandForward& x)
        : kernels_(kernels()),
          shape_(shape),
          x_(x),
          weights_(shape.bias, shape.length, shape.causal),
          panels_(shape, true) {}

    bool run() {
        panels_.pack(x_.k, x_.v, nullptr);
        const int64_t tiles = weights_.padded() / kTile;
        // Few tiles: the samples are shared out too, each part makes the weights for itself.
        const int64_t parts = std::clamp<int64_t>((16 + tiles - 1) / tiles, 1, shape_.batch);
        std::vector<Tile> scratch;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            scratch.emplace_back(weights_, kernels_, widest());
        bool safe = true;
        // The last tiles of a causal operator are the longest: they go first.
#pragma omp parallel for schedule(dynamic) reduction(&& : safe)
        for (int64_t i = tiles * parts - 1; i >= 0; --i) {
            Tile& tile = scratch[static_cast<std::size_t>(omp_get_thread_num())];
            start(tile, i / parts * kTile);
            const int64_t count = panels_.count();
            for (int64_t b = count * (i % parts) / parts; b < count * (i % parts + 1) / parts; ++b)
                safe = block(tile, panels_.block(b)) && safe;
        }
        return safe;
    }

  private:
    [[nodiscard]] int64_t widest() const {
        const int64_t reach = (shape_.causal ? 1 : 2) * shape_.bias.window + kRows + 2 * kStep;
        return std::min(shape_.length, reach);
    }

    void start(Tile& tile, int64_t row) {
        tile.row = row;
        tile.blocks = (std::min(kTile, shape_.length - row) + kRows - 1) / kRows;
        for (int64_t i = 0; i < tile.blocks; ++i) {
            const int64_t first = row + i * kRows;
            tile.sources[i] = weights_.sources(first);
            weights_.measure(first, tile.scales, i * kRows, tile.scratch);
            weights_.fill({.row = first,
                           .sources = tile.sources[i],
                           .scales = tile.scales,
                           .at = i * kRows,
                           .out = tile.weights.data() + i * kRows * tile.span,
                           .out_row = tile.span},
                          tile.scratch);
        }
    }

    // The running sums of everything before and after what is looked at one by one.
    void begin_sums(Tile& tile, const Panels::Block& b, int64_t i) {
        const int64_t width = panels_.width();
        Multiply m{.a = tile.scales.outside.data() + i * kRows,
                   .a_row = 1,
                   .b_step = width,
                   .steps = 1,
                   .sum = tile.sums.data() + i * kRows * width,
                   .sum_row = width};
        std::fill(m.sum, m.sum + kRows * width, 0.0F);
        if (tile.sources[i].begin > 0) {
            m.b = b.before + tile.sources[i].begin / kStep * width;
            kernels_.multiply(m);
        }
        if (!shape_.causal && tile.sources[i].end < shape_.length) {
            m.b = b.after + tile.sources[i].end / kStep * width;
            kernels_.multiply(m);
        }
    }

    // Chunk by chunk, so that its operand stays in the first-level cache for all targets.
    bool block(Tile& tile, const Panels::Block& b) {
        const int64_t width = panels_.width(), last = tile.sources[tile.blocks - 1].end;
        int64_t started = 0;
        for (int64_t chunk = tile.sources[0].begin / kTile; chunk * kTile < last; ++chunk) {
            const int64_t begin = chunk * kTile, end = begin + kTile;
            if (started > 0 && !panels_.alike(b, chunk - 1, chunk))
                kernels_.rescale({.rows = tile.sums.data(),
                                  .count = started * kRows,
                                  .from = b.reference + (chunk - 1) * kernels_.channels,
                                  .to = b.reference + chunk * kernels_.channels});
            for (; started < tile.blocks && tile.sources[started].begin < end; ++started)
                begin_sums(tile, b, started);
            for (int64_t i = 0; i < started; ++i) {
                const int64_t from = std::max(begin, tile.sources[i].begin);
                const int64_t to = std::min(end, tile.sources[i].end);
                if (from >= to) continue;
                kernels_.multiply({.a = tile.weight(i, from),
                                   .a_row = tile.span,
                                   .a_step = 1,
                                   .b = b.panel + from * width,
                                   .b_step = width,
                                   .steps = to - from,
                                   .sum = tile.sums.data() + i * kRows * width,
                                   .sum_row = width});
            }
        }
        return finish(tile, b);
    }

    bool finish(const Tile& tile, const Panels::Block& b) {
        const int64_t d = shape_.channels;
        const int64_t at = (b.sample * shape_.length + tile.row) * d + b.first;
        const auto from = [&](auto* p) { return p == nullptr ? nullptr : p + at; };
        return kernels_.finish_rows({.sums = tile.sums.data(),
                                     .rows = std::min(kTile, shape_.length - tile.row),
                                     .channels = b.channels,
                                     .stride = d,
                                     .q = from(x_.q),
                                     .y = from(x_.y),
                                     .average = from(x_.average),
                                     .denominator = from(x_.denominator)});
    }

    const Kernels& kernels_;
    const BandShape& shape_;
    const BandForward& x_;
    Weights weights_;
    Panels panels_;
};

}  // namespace

bool band_forward(const BandShape& shape, const BandForward& x) {
    return Forward(shape, x).run();
}

}  // namespace aft::ops::cpu
