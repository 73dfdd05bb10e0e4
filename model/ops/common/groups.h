// Group layout: the one shape that all AFT operators share inside model/ops.
// G groups (heads of a convolution, else 1) of N key columns; each key column weighs S value
// channels. Full, local, simple: G = 1, N = B*d, S = 1. Convolutions: G = h, N = B, S = d/h.
// Source-major, so that a tile of weights times the columns is one matrix product with the batch
// folded in. Internal to model/ops; no numerics here.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/aft.h"
#include "model/ops/common/index_range.h"

namespace aft::ops {

struct Grouped {
    at::Tensor keys;                // [G, T, N]
    at::Tensor values;              // [G, T, N*S], column n*S + s
    int64_t groups = 1, batch = 0;  // G, B
    [[nodiscard]] int64_t length() const { return keys.size(1); }
    [[nodiscard]] int64_t columns() const { return keys.size(2); }
    [[nodiscard]] int64_t width() const { return columns() == 0 ? 1 : values.size(2) / columns(); }
};

[[nodiscard]] bool is_convolution(OperatorKind kind);

// k [B, T, d or h], v [B, T, d] -> groups; differentiable.
[[nodiscard]] Grouped to_groups(OperatorKind kind, const at::Tensor& k, const at::Tensor& v);
// [G, T, N*S] -> [B, T, d] as `like`; differentiable.
[[nodiscard]] at::Tensor from_groups(const at::Tensor& grouped, const at::Tensor& like);

// The part of Options and shapes that an operator's backward pass needs again.
struct OperatorShape {
    OperatorKind kind = OperatorKind::simple;
    bool causal = false;
    int64_t window = 0;
    bool outside_hidden = false;
    int64_t grid_height = 0, grid_width = 0;
    int64_t row_block = 0;
};
[[nodiscard]] OperatorShape shape_of(OperatorKind kind, const Options& options);

}  // namespace aft::ops
