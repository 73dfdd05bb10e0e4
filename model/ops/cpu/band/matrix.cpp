// A tile's weights and sums (tile.cpp) with AMX: blocks of kMatrixRows targets that see whole steps
// of kMatrixStep sources, as chunks of kTile begin on them.
//
//   sums[t] = outside_t sum_{j before, after} [X V | X]_j + sum_{j in the steps} E_tj [X V | X]_j
//
// Cost: 4 C FLOP for each pair; a block with a window of s looks at s + 32 sources (s a multiple of
// 32) one by one; those before its window have the weight of all outside, a power of two.
#include <algorithm>

#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/band/tile.h"

namespace aft::ops::cpu {

void TargetTile::start_matrix(const BandWeights& all, int64_t first, WeightScratch& scratch) {
    row = first;
    const int64_t end = std::min(first + kTile, all.length());
    blocks = (end - first + kMatrixRows - 1) / kMatrixRows;
    const auto block_of = [&](int64_t target) { return (target - first) / kMatrixRows; };
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t target = first + i * kMatrixRows, last = std::min(target + kMatrixRows, end);
        const int64_t behind = all.window(last - 1).end + kMatrixStep - 1;
        sources[i] = {all.window(target).begin / kMatrixStep * kMatrixStep,
                      behind / kMatrixStep * kMatrixStep};
    }
    for (int64_t target = first; target < end; target += kRows) {
        const int64_t rows = std::min(kRows, end - target), at = target - first;
        const IndexRange both{sources[block_of(target)].begin,
                              sources[block_of(target + rows - 1)].end};
        const int64_t width = span + kMatrixStep;
        all.measure(target, scales, at, scratch);
        all.fill({.row = target,
                  .sources = both,
                  .scales = scales,
                  .at = at,
                  .out = weights.data(),
                  .out_row = width},
                 scratch);
        for (int64_t r = 0; r < rows; ++r) {
            const int64_t block = (at + r) / kMatrixRows;
            const auto [begin, behind] = sources[block];
            bf16_kernels()->round_row(weights.data() + r * width + begin - both.begin,
                                      (behind - begin) / kMatrixStep,
                                      bf16_weights.data() + block * kMatrixRows * span +
                                          (at + r) % kMatrixRows * kMatrixStep);
        }
    }
}

void sum_tile_matrix(const BandShape& shape, const TargetTile& tile,
                     const Panels::ChannelBlock& block, float* sums) {
    static constexpr float kNothing[64] = {};  // 2C
    for (int64_t i = 0; i < tile.blocks; ++i, sums += kMatrixRows * block.width) {
        const auto [first, end] = tile.sources[i];
        const bool is_last = shape.causal || end >= shape.length;
        MultiplyMatrix m{.a = tile.bf16_weights.data() + i * kMatrixRows * tile.span,
                         .sum = sums,
                         .first = first > 0 ? block.before + block.step(first) : kNothing,
                         .later = is_last ? nullptr : block.after + block.step(end),
                         .weight = tile.scales.outside.data() + i * kMatrixRows};
        for (int64_t begin = first, chunk = first / kTile; begin < end; ++chunk) {
            const int64_t behind = std::min((chunk + 1) * kTile, end);
            if (behind < end && block.joined(chunk)) continue;
            m.b = block.bf16_row(begin);
            m.steps = (behind - begin) / kMatrixStep;
            bf16_kernels()->multiply_matrix(m);
            m.first = m.later = nullptr;
            m.a += m.steps * kMatrixWeights;
            begin = behind;
            if (behind < end && !block.alike(chunk, chunk + 1))
                band_kernels().rescale({.rows = sums,
                                        .count = kMatrixRows,
                                        .from = block.reference_of(chunk),
                                        .to = block.reference_of(chunk + 1)});
        }
    }
}

}  // namespace aft::ops::cpu
