// What the tiled forward and backward passes share: row blocks, key references, operands
// [exp(K - b) V | exp(K - b)], and the scaled weights of one block. Internal to tiled.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "model/ops/common/groups.h"
#include "model/ops/common/position_bias.h"

namespace aft::ops::tiled {

// A run of row blocks that share one reference per key column. Causal: the reference comes from
// sources up to the first block of the run, so that large keys of the future do not underflow the
// visible ones; later keys may exceed it by kRise at most.
struct Segment {
    IndexRange rows;       // multiple of the row block, but for the end
    int64_t sources = 0;   // sources [0, sources) are visible to some of these rows
    at::Tensor reference;  // [G, 1, N]
};

struct Plan {
    Grouped x;          // keys [G, T, N], values [G, T, N*S], contiguous
    int64_t block = 0;  // rows of a block
    bool causal = false;
};

[[nodiscard]] int64_t choose_block(const OperatorShape& shape, int64_t T);
[[nodiscard]] std::vector<Segment> plan_segments(const Plan& plan);

// [G, sources, N*S + N] = [X V | X] with X = exp(K - reference)
[[nodiscard]] at::Tensor operands(const Plan& plan, const Segment& segment,
                                  const at::Tensor& values);

// Sums of the operands over everything before and after each block boundary; sums of parts only,
// never a difference. before, after: [G, blocks + 1, columns].
struct OutsideStates {
    at::Tensor before, after;
    [[nodiscard]] bool defined() const { return before.defined(); }
};
[[nodiscard]] OutsideStates outside_states(const Plan& plan, const at::Tensor& operands);

// Weights of one row block, scaled by exp(-a) with a the row's largest visible bias.
struct BlockWeights {
    IndexRange rows, sources;  // sources on block boundaries
    at::Tensor inside;         // E [G', R, J]; G' = 1 or G. Undefined where J = 0
    at::Tensor outside;        // exp(0 - a) [G', R, 1]; undefined where nothing outside is visible
};
[[nodiscard]] BlockWeights block_weights(const Plan& plan, const PositionBias& bias,
                                         IndexRange rows);

// bmm, G = 1 as mm
[[nodiscard]] at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace aft::ops::tiled
