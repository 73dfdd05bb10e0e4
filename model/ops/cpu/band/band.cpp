// Forward: N_t = sum_j E_tj X_j V_j, D_t = sum_j E_tj X_j with E = exp(w), X = exp(K); Y =
// sigmoid(Q) N / D (paper Eq. 2). Tiles of kTile targets; everything outside the band is one more
// source, whose operand is the running sum of all sources before (and after) it. Two loop orders,
// chosen by the shape, with the same results:
//   streaming, for narrow windows: the weights of all tiles are computed first; then a sample and a
//     few blocks of channels at a time goes through the sequence: pack a chunk, multiply, finish.
//     Only the rows that the window still reaches are kept (second-level cache); Q, K, V are read
//     and Y is written once. B = 8, T = 1024, d = 512, window 32, two cores: 5.8 ms; the limit by
//     products is 2.8.
//   tile by tile, for wide ones: all panels first; the weights of a tile are computed once, used
//     for every sample and block of channels, and dropped.
#include "model/ops/cpu/band/band.h"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/band/tile.h"

namespace aft::ops::cpu {

namespace {

int64_t padded(const BandShape& shape) {
    return (shape.length + kTile - 1) / kTile * kTile;
}

template <class T>
class BandForwardPass {
  public:
    BandForwardPass(const BandShape& shape, const BandForward<T>& x)
        : kernels_(band_kernels()),
          shape_(shape),
          x_(x),
          weights_(shape.bias, shape.length, shape.causal),
          tiles_(padded(shape) / kTile),
          blocks_(Panels::all_blocks(shape)) {
        // Streaming stores: a result beyond the caches costs half.
        const int64_t vector = kernels_.lanes, bytes = vector * static_cast<int64_t>(sizeof(T));
        streams_ = shape.batch * shape.length * shape.channels > kStreamed &&
                   shape.channels % vector == 0 && reinterpret_cast<uintptr_t>(x.y) % bytes == 0;
    }

    bool run() {
        const int64_t widest = TargetTile::widest(shape_);
        const bool is_narrow = widest <= kNarrow && widest <= 2 * shape_.batch * shape_.channels;
        return is_narrow ? stream_chunks() : by_tiles();
    }

  private:
    static constexpr int64_t kNarrow = 680;  // a tile's weights stay in the second-level cache
    static constexpr int64_t kStreamed = 1 << 20;  // numbers
    static constexpr int64_t kKept = 1 << 16;      // numbers of the panels of a thread

    [[nodiscard]] std::vector<Buffer<float>> sums() const {
        std::vector<Buffer<float>> all;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            all.emplace_back(kTile * 2 * kernels_.channels, true);
        return all;
    }
    [[nodiscard]] std::vector<WeightScratch> scratches() const {
        std::vector<WeightScratch> all;
        for (int i = 0; i < omp_get_max_threads(); ++i) all.push_back(weights_.scratch());
        return all;
    }
    static std::size_t thread() { return static_cast<std::size_t>(omp_get_thread_num()); }

    bool stream_chunks() {
        std::vector<TargetTile> tiles;
        for (int64_t i = 0; i < tiles_; ++i) tiles.emplace_back(shape_);
        make_weights(tiles);
        const int64_t rows = kept_rows(), per_sample = blocks_ / shape_.batch;
        const int64_t kept = shape_.bf16 ? 2 * kKept : kKept;  // half as wide
        const int64_t fitting = std::max<int64_t>(1, kept / (rows * 2 * kernels_.channels));
        const int64_t parts = std::max((per_sample + fitting - 1) / fitting,
                                       std::min(per_sample, (4 + shape_.batch - 1) / shape_.batch));
        std::vector<Panels> panels;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            panels.push_back(Panels(shape_, {.blocks = (per_sample + parts - 1) / parts,
                                             .rows = rows,
                                             .sums = true,
                                             .bf16 = shape_.bf16}));
        std::vector<Buffer<float>> scratch = sums();
        bool safe = true;
#pragma omp parallel for schedule(dynamic) reduction(&& : safe)
        for (int64_t i = 0; i < shape_.batch * parts; ++i) {
            const int64_t first = i / parts * per_sample, part = i % parts;
            const IndexRange unit{first + per_sample * part / parts,
                                  first + per_sample * (part + 1) / parts};
            safe = walk(tiles, unit, panels[thread()], scratch[thread()].data()) && safe;
        }
        return safe;
    }

    void make_weights(std::vector<TargetTile>& tiles) const {
        std::vector<WeightScratch> scratch = scratches();
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < tiles_; ++i) {
            const ScopedFlushToZero flush;
            tiles[static_cast<std::size_t>(i)].start(weights_, i * kTile, scratch[thread()]);
        }
    }

    // Rows of a panel that a tile still reaches; all of them where the future counts too.
    [[nodiscard]] int64_t kept_rows() const {
        if (!shape_.causal) return padded(shape_);
        const int64_t step = shape_.bf16 ? bf16_kernels()->step : kStep;
        const int64_t reach = shape_.bias.window - 1 + step;
        return std::min(padded(shape_), ((reach + kTile - 1) / kTile + 1) * kTile);
    }

    // Blocks [unit.begin, unit.end) of one sample through the whole sequence.
    bool walk(const std::vector<TargetTile>& tiles, const IndexRange& unit, Panels& panels,
              float* sums) const {
        const ScopedFlushToZero flush;
        bool safe = true;
        const Panels::Source<T> source{x_.k, x_.v, nullptr};
        if (!shape_.causal)
            for (int64_t b = unit.begin; b < unit.end; ++b)
                panels.pack(panels.block(b, b - unit.begin), source);
        for (int64_t chunk = 0; chunk < tiles_; ++chunk)
            for (int64_t b = unit.begin; b < unit.end; ++b) {
                const Panels::ChannelBlock block = panels.block(b, b - unit.begin);
                if (shape_.causal) panels.pack_chunk(block, source, chunk);
                const TargetTile& tile = tiles[static_cast<std::size_t>(chunk)];
                const bool wraps = b + 1 == unit.end;
                const Panels::ChannelBlock next = panels.block(wraps ? unit.begin : b + 1, 0);
                PrefetchPlan plan = plan_prefetch(next, wraps ? chunk + 1 : chunk);
                if (wraps && chunk + 1 < tiles_)
                    plan.tail = tiles[static_cast<std::size_t>(chunk + 1)].prefetch_range();
                sum_tile(shape_, tile, block, {sums, plan});
                safe = finish(tile, block, sums) && safe;
            }
        return safe;
    }

    [[nodiscard]] PrefetchPlan plan_prefetch(const Panels::ChannelBlock& block,
                                             int64_t chunk) const {
        const int64_t row = chunk * kTile, d = shape_.channels;
        if (row >= shape_.length) return {};
        const int64_t at = (block.sample * shape_.length + row) * d + block.first;
        const auto from = [&](const T* p) {
            return reinterpret_cast<const char*>(p == nullptr ? p : p + at);
        };
        return {.rows = {from(x_.q), shape_.causal ? from(x_.k) : nullptr,
                         shape_.causal ? from(x_.v) : nullptr},
                .count = std::min(kTile, shape_.length - row),
                .stride = d * static_cast<int64_t>(sizeof(T))};
    }

    bool by_tiles() {
        Panels panels(
            shape_, {.blocks = blocks_, .rows = padded(shape_), .sums = true, .bf16 = shape_.bf16});
        panels.pack_all(Panels::Source<T>{x_.k, x_.v, nullptr}, {0, blocks_});
        // Few tiles: the samples are shared out too, each part makes the weights for itself.
        const int64_t parts = std::clamp<int64_t>((16 + tiles_ - 1) / tiles_, 1, shape_.batch);
        std::vector<TargetTile> tiles;
        for (int i = 0; i < omp_get_max_threads(); ++i) tiles.emplace_back(shape_);
        std::vector<Buffer<float>> scratch = sums();
        std::vector<WeightScratch> products = scratches();
        bool safe = true;
        // The last tiles of a causal operator are the longest: they go first.
#pragma omp parallel for schedule(dynamic) reduction(&& : safe)
        for (int64_t i = tiles_ * parts - 1; i >= 0; --i) {
            const ScopedFlushToZero flush;
            TargetTile& tile = tiles[thread()];
            tile.start(weights_, i / parts * kTile, products[thread()]);
            for (int64_t b = blocks_ * (i % parts) / parts; b < blocks_ * (i % parts + 1) / parts;
                 ++b) {
                const Panels::ChannelBlock block = panels.block(b, b);
                sum_tile(shape_, tile, block, {scratch[thread()].data(), far(tile, block)});
                safe = finish(tile, block, scratch[thread()].data()) && safe;
            }
        }
        return safe;
    }

    // Queries of the tile; of whole panels all but the first chunk.
    [[nodiscard]] PrefetchPlan far(const TargetTile& tile,
                                   const Panels::ChannelBlock& block) const {
        PrefetchPlan out = plan_prefetch(block, tile.row / kTile);
        out.rows[1] = out.rows[2] = nullptr;
        out.far = true;
        return out;
    }

    bool finish(const TargetTile& tile, const Panels::ChannelBlock& b, const float* sums) const {
        const int64_t d = shape_.channels;
        const int64_t at = (b.sample * shape_.length + tile.row) * d + b.first;
        const auto from = [&](auto* p) { return p == nullptr ? nullptr : p + at; };
        return kernels_.of<T>().finish_rows({.sums = sums,
                                             .rows = std::min(kTile, shape_.length - tile.row),
                                             .channels = b.channels,
                                             .stride = d,
                                             .q = from(x_.q),
                                             .y = from(x_.y),
                                             .average = from(x_.average),
                                             .denominator = from(x_.denominator),
                                             .streams = streams_});
    }

    const BandKernels& kernels_;
    const BandShape& shape_;
    const BandForward<T>& x_;
    BandWeights weights_;
    int64_t tiles_ = 0, blocks_ = 0;
    bool streams_ = false;
};

}  // namespace

template <class T>
bool band_forward(const BandShape& shape, const BandForward<T>& x) {
    return BandForwardPass<T>(shape, x).run();
}
template bool band_forward(const BandShape& shape, const BandForward<float>& x);
template bool band_forward(const BandShape& shape, const BandForward<Bf16>& x);

}  // namespace aft::ops::cpu
