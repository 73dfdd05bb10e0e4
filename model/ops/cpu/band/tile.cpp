// sums[t] = outside_t sum_{j before} [X V | X]_j + sum_{j in the band} E_tj [X V | X]_j
//
// (numerator and denominator of paper Eq. 2, side by side). Cost: 4 C FLOP for each pair; of a
// block of kRows targets with a window of s, s + kRows - 1 sources are multiplied, as the running
// sums are kept where a window begins: 37 for a window of 32, where whole steps took 42. Sums begin
// in registers and are rescaled by powers of two only where references differ. Windows that fit the
// first-level cache go target by target, so that sums are stored once; rows of the next block are
// prefetched into the second level, one a source: 14.2 ms of one core became 10.0 (window 32).
#include "model/ops/cpu/band/tile.h"

#include <algorithm>

#include "model/ops/cpu/band/bf16_kernels.h"

namespace aft::ops::cpu {

namespace {

bool has_matrix(const BandShape& shape) {
    return shape.bf16 && bf16_kernels()->multiply_matrix != nullptr;
}
// Numbers of a row: whole pairs or steps and what is written behind them.
int64_t span_of(const BandShape& shape) {
    const int64_t widest = TargetTile::widest(shape);
    if (has_matrix(shape)) return (widest + kMatrixStep - 1) / kMatrixStep * kMatrixStep;
    return (widest + 1) / 2 * 2 + 2 * band_kernels().lanes;
}

}  // namespace

int64_t TargetTile::widest(const BandShape& shape) {
    const bool matrix = has_matrix(shape);
    const int64_t reach = (shape.causal ? 1 : 2) * shape.bias.window +
                          (matrix ? kMatrixRows + 2 * kMatrixStep : kRows + 2 * kStep);
    return std::min(shape.length, reach);
}

TargetTile::TargetTile(const BandShape& shape)
    : span(span_of(shape)),
      phase(shape.phase()),
      weights((shape.bf16 ? kRows : kTile) *
                  (span + (has_matrix(shape) ? kMatrixStep + band_kernels().lanes : 0)),
              true),
      bf16_weights(shape.bf16 ? kTile * span + band_kernels().lanes : 0, true),
      matrix(has_matrix(shape)) {}

PrefetchRange TargetTile::prefetch_range() const {
    if (bf16_weights.size() > 0)
        return {reinterpret_cast<const char*>(bf16_weights.data()), bf16_weights.size() * 2};
    return {reinterpret_cast<const char*>(weights.data()), weights.size() * 4};
}

void TargetTile::start(const BandWeights& all, int64_t first, WeightScratch& scratch) {
    if (matrix) return start_matrix(all, first, scratch);
    row = first;
    blocks = (std::min(kTile, all.length() - row) + kRows - 1) / kRows;
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t target = row + i * kRows;
        sources[i] = all.sources(target, phase);
        all.measure(target, scales, i * kRows, scratch);
        all.fill({.row = target,
                  .sources = sources[i],
                  .scales = scales,
                  .at = i * kRows,
                  .out = weights.data() + (bf16_weights.size() > 0 ? 0 : i * kRows * span),
                  .out_row = span},
                 scratch);
        if (bf16_weights.size() == 0) continue;
        // Sources go in pairs: an odd last one is paired with zero.
        for (int64_t r = 0; r < kRows; ++r)
            weights.data()[r * span + sources[i].end - sources[i].begin] = 0;
        bf16_kernels()->round(weights.data(), kRows * span, bf16_weights.data() + i * kRows * span);
    }
}

namespace {

class TileProduct {
  public:
    TileProduct(const BandShape& shape, const TargetTile& tile, const Panels::ChannelBlock& block)
        : kernels_(band_kernels()), shape_(shape), tile_(tile), block_(block) {}

    void run(const PrefetchPlan& prefetch, float* sums) {
        plan_ = prefetch;
        range_ = prefetch.tail;
        const IndexRange all{tile_.sources[0].begin, tile_.sources[tile_.blocks - 1].end};
        const int64_t reach = (tile_.sources[0].end - all.begin) / (block_.bf16 != nullptr ? 2 : 1);
        if (reach <= kTile)
            by_targets(sums);
        else
            by_chunks(all, sums);
    }

  private:
    // Small windows fit the first-level cache: target by target, so each sum is stored once.
    void by_targets(float* sums) {
        for (int64_t i = 0; i < tile_.blocks; ++i, sums += kRows * block_.width) {
            IndexRange part{tile_.sources[i].begin, tile_.sources[i].begin};
            for (int64_t chunk = part.begin / kTile; part.end < tile_.sources[i].end; ++chunk) {
                if (part.end > part.begin && !block_.joined(chunk - 1)) {
                    add(i, part, sums);
                    part.begin = part.end;
                    rescale(chunk - 1, kRows, sums);
                }
                part.end = std::min((chunk + 1) * kTile, tile_.sources[i].end);
            }
            add(i, part, sums);
        }
    }

    // Chunk by chunk, so that its operand stays in the first-level cache for all targets.
    void by_chunks(const IndexRange& all, float* sums) {
        int64_t started = 0;
        for (int64_t chunk = all.begin / kTile; chunk * kTile < all.end; ++chunk) {
            const int64_t begin = chunk * kTile, end = begin + kTile;
            if (plan_.far) range_ = end < all.end ? panel(end, all.end) : plan_.tail;
            if (started > 0) rescale(chunk - 1, started * kRows, sums);
            while (started < tile_.blocks && tile_.sources[started].begin < end) ++started;
            for (int64_t i = 0; i < started; ++i)
                add(i,
                    {std::max(begin, tile_.sources[i].begin), std::min(end, tile_.sources[i].end)},
                    sums + i * kRows * block_.width);
        }
    }

    // The panel of the chunk from here on.
    [[nodiscard]] PrefetchRange panel(int64_t begin, int64_t end) const {
        const int64_t rows = std::min(kTile, end - begin);
        if (block_.bf16 != nullptr)
            return {reinterpret_cast<const char*>(block_.bf16_row(begin)), rows * 2 * block_.width};
        return {reinterpret_cast<const char*>(block_.row(begin)), rows * 4 * block_.width};
    }

    // From the references of a chunk to those of the next.
    void rescale(int64_t chunk, int64_t rows, float* sums) const {
        if (block_.alike(chunk, chunk + 1)) return;
        kernels_.rescale({.rows = sums,
                          .count = rows,
                          .from = block_.reference_of(chunk),
                          .to = block_.reference_of(chunk + 1)});
    }

    void add(int64_t i, const IndexRange& part, float* sums) {
        if (part.begin >= part.end) return;
        const int64_t at = i * kRows * tile_.span + part.begin - tile_.sources[i].begin;
        if (block_.bf16 != nullptr) {  // behind the last source the panel is zero
            const int64_t steps = (part.end - part.begin + 1) / 2;
            bf16_kernels()->multiply({.a = tile_.bf16_weights.data() + at,
                                      .a_row = tile_.span,
                                      .b = block_.bf16_row(part.begin),
                                      .steps = steps,
                                      .sum = sums,
                                      .sum_row = block_.width,
                                      .extras = extras(i, part, steps)});
        } else {
            kernels_.multiply({.a = tile_.weights.data() + at,
                               .a_row = tile_.span,
                               .a_step = 1,
                               .b = block_.row(part.begin),
                               .b_step = block_.width,
                               .steps = part.end - part.begin,
                               .sum = sums,
                               .sum_row = block_.width,
                               .extras = extras(i, part, part.end - part.begin)});
        }
        if (!shape_.causal && part.begin == tile_.sources[i].begin) add_later(i, sums);
    }

    // The first sources are added to the running sums of all before them.
    ProductExtras extras(int64_t i, const IndexRange& part, int64_t steps) {
        static constexpr float kNothing[kWidest] = {};
        ProductExtras out;
        add_prefetch(steps, out);
        const int64_t begin = tile_.sources[i].begin;
        if (part.begin != begin) return out;
        out.first = begin > 0 ? block_.before + block_.step(begin) : kNothing;
        out.weight = tile_.scales.outside.data() + i * kRows;
        return out;
    }

    // Suffix sums: of all sources after the window.
    void add_later(int64_t i, float* sums) const {
        const int64_t end = tile_.sources[i].end;
        if (end >= shape_.length) return;
        kernels_.multiply({.a = tile_.scales.outside.data() + i * kRows,
                           .a_row = 1,
                           .b = block_.after + block_.step(end),
                           .steps = 1,
                           .sum = sums,
                           .sum_row = block_.width});
    }

    void add_prefetch(int64_t steps, ProductExtras& out) {
        while (tensor_ < kTensors && (plan_.rows[tensor_] == nullptr || row_ >= plan_.count)) {
            ++tensor_;
            row_ = 0;
        }
        if (tensor_ == kTensors) return range_.next(steps, 2 * block_.width, out);
        out.prefetch = plan_.rows[tensor_] + row_ * plan_.stride;
        out.prefetches = std::min(steps, plan_.count - row_);
        out.prefetch_stride = plan_.stride;
        row_ += out.prefetches;
    }

    static constexpr int64_t kWidest = 64;  // 2C of any instruction set
    static constexpr int kTensors = 3;

    const BandKernels& kernels_;
    const BandShape& shape_;
    const TargetTile& tile_;
    const Panels::ChannelBlock& block_;
    PrefetchPlan plan_;
    PrefetchRange range_;
    int tensor_ = 0;  // prefetched so far: tensors, rows of the next
    int64_t row_ = 0;
};

}  // namespace

void sum_tile(const BandShape& shape, const TargetTile& tile, const Panels::ChannelBlock& block,
              const TileSums& to) {
    if (tile.matrix)
        sum_tile_matrix(shape, tile, block, to.sums);
    else
        TileProduct(shape, tile, block).run(to.prefetch, to.sums);
}

}  // namespace aft::ops::cpu
