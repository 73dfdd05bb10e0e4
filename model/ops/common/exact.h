// The exact weighted average: the definition in float64 and log space, for any finite K and w.
// Used by the reference backend for everything and by the tiled backend for blocks whose scaling
// is not safe. Works in pieces, so that memory stays bounded. Internal to model/ops.
#pragma once
#include <ATen/core/Tensor.h>

namespace aft::ops {

// Some rows of one group against some key columns. All float64.
struct ExactPart {
    at::Tensor bias;    // [R, J], -inf where row r does not see source j
    at::Tensor keys;    // [N, J]
    at::Tensor values;  // [N, J, S]
};
struct ExactGradient {
    at::Tensor bias;    // [R, J]
    at::Tensor keys;    // [N, J]
    at::Tensor values;  // [N, J, S]
};

// sum_j p V with p = softmax_j(bias + keys) -> [N, R, S]. A row that sees a NaN (or an infinite
// value) is NaN, no other row is.
[[nodiscard]] at::Tensor exact_average(const ExactPart& part);
// gradient [N, R, S] of the average -> gradients of the inputs.
[[nodiscard]] ExactGradient exact_gradient(const ExactPart& part, const at::Tensor& gradient);

// All rows: bias [G, T, T] with -inf where invisible, keys [G, T, N], values [G, T, N*S] (float64)
// -> [G, T, N*S]. Differentiable. causal: nothing right of the diagonal is looked at.
[[nodiscard]] at::Tensor exact_attend(const at::Tensor& bias, const at::Tensor& keys,
                                      const at::Tensor& values, bool causal);

}  // namespace aft::ops
