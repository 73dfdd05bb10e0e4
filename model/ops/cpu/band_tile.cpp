#include "model/ops/cpu/band_tile.h"

#include <algorithm>

#include "model/ops/cpu/half_kernels.h"

namespace aft::ops::cpu {

int64_t TargetTile::widest(const BandShape& shape) {
    const int64_t reach = (shape.causal ? 1 : 2) * shape.bias.window + kRows + 2 * kStep;
    return std::min(shape.length, reach);
}

TargetTile::TargetTile(int64_t widest, bool half)
    : span((widest + 1) / 2 * 2 + 2 * kernels().lanes),
      weights((half ? kRows : kTile) * span, true),
      halves(half ? kTile * span + kernels().lanes : 0, true) {}

void TargetTile::start(const Weights& all, int64_t first, WeightScratch& scratch) {
    row = first;
    blocks = (std::min(kTile, all.length() - row) + kRows - 1) / kRows;
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t target = row + i * kRows;
        sources[i] = all.sources(target);
        all.measure(target, scales, i * kRows, scratch);
        all.fill({.row = target,
                  .sources = sources[i],
                  .scales = scales,
                  .at = i * kRows,
                  .out = weights.data() + (halves.size() > 0 ? 0 : i * kRows * span),
                  .out_row = span},
                 scratch);
        if (halves.size() == 0) continue;
        // Two sources at a time: the one behind an odd number of them is nothing.
        for (int64_t r = 0; r < kRows; ++r)
            weights.data()[r * span + sources[i].end - sources[i].begin] = 0;
        half_kernels()->round(weights.data(), kRows * span, halves.data() + i * kRows * span);
    }
}

namespace {

class Sums {
  public:
    Sums(const BandShape& shape, const TargetTile& tile, const Panels::Block& block)
        : kernels_(kernels()), shape_(shape), tile_(tile), block_(block) {}

    // Chunk by chunk, so that its operand stays in the first-level cache for all targets.
    void run(const Ahead& ahead, float* sums) const {
        const int64_t last = tile_.sources[tile_.blocks - 1].end;
        int64_t started = 0;
        for (int64_t chunk = tile_.sources[0].begin / kTile; chunk * kTile < last; ++chunk) {
            const int64_t begin = chunk * kTile, end = begin + kTile;
            if (started > 0 && !block_.alike(chunk - 1, chunk))
                kernels_.rescale({.rows = sums,
                                  .count = started * kRows,
                                  .from = block_.reference_of(chunk - 1),
                                  .to = block_.reference_of(chunk)});
            for (; started < tile_.blocks && tile_.sources[started].begin < end; ++started)
                begin_block(started, sums + started * kRows * block_.width);
            for (int64_t i = 0; i < started; ++i) {
                if (end >= last) fetch(ahead, i);
                add(i,
                    {std::max(begin, tile_.sources[i].begin), std::min(end, tile_.sources[i].end)},
                    sums + i * kRows * block_.width);
            }
        }
    }

  private:
    // The running sums of everything before and after what is looked at one by one.
    void begin_block(int64_t i, float* sums) const {
        const int64_t width = block_.width;
        Multiply m{.a = tile_.scales.outside.data() + i * kRows,
                   .a_row = 1,
                   .b_step = width,
                   .steps = 1,
                   .sum = sums,
                   .sum_row = width};
        std::fill(m.sum, m.sum + kRows * width, 0.0F);
        if (tile_.sources[i].begin > 0) {
            m.b = block_.before + block_.step(tile_.sources[i].begin);
            kernels_.multiply(m);
        }
        if (!shape_.causal && tile_.sources[i].end < shape_.length) {
            m.b = block_.after + block_.step(tile_.sources[i].end);
            kernels_.multiply(m);
        }
    }

    void add(int64_t i, const Sources& part, float* sums) const {
        if (part.begin >= part.end) return;
        const int64_t at = i * kRows * tile_.span + part.begin - tile_.sources[i].begin;
        if (block_.half != nullptr)  // behind the last source the panel is zero
            return half_kernels()->multiply({.a = tile_.halves.data() + at,
                                             .a_row = tile_.span,
                                             .b = block_.half_row(part.begin),
                                             .steps = (part.end - part.begin + 1) / 2,
                                             .sum = sums,
                                             .sum_row = block_.width});
        kernels_.multiply({.a = tile_.weights.data() + at,
                           .a_row = tile_.span,
                           .a_step = 1,
                           .b = block_.row(part.begin),
                           .b_step = block_.width,
                           .steps = part.end - part.begin,
                           .sum = sums,
                           .sum_row = block_.width});
    }

    // GCC takes a function that only fetches for one without effect, and drops the calls.
    [[gnu::noipa]] void fetch(const Ahead& ahead, int64_t i) const {
        const int64_t line = 64 / static_cast<int64_t>(sizeof(float));
        for (int64_t row = i * kRows; row < std::min(ahead.count, (i + 1) * kRows); ++row)
            for (const float* rows : ahead.rows)
                for (int64_t c = 0; rows != nullptr && c < block_.width / 2; c += line)
                    __builtin_prefetch(rows + row * ahead.stride + c);
    }

    const Kernels& kernels_;
    const BandShape& shape_;
    const TargetTile& tile_;
    const Panels::Block& block_;
};

}  // namespace

void sum_tile(const BandShape& shape, const TargetTile& tile, const Panels::Block& block,
              const TileSums& to) {
    Sums(shape, tile, block).run(to.ahead, to.sums);
}

}  // namespace aft::ops::cpu
