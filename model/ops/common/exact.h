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

// All rows of all groups. Contiguous, float64. causal: nothing right of the diagonal is looked at.
struct ExactProblem {
    at::Tensor bias;    // [G, T, T], -inf where invisible
    at::Tensor keys;    // [G, T, N]
    at::Tensor values;  // [G, T, N*S]
    bool causal = false;
};
[[nodiscard]] at::Tensor exact_average_of_all(const ExactProblem& x);  // [G, T, N*S]
// as the tensors
[[nodiscard]] ExactGradient exact_gradient_of_all(const ExactProblem& x,
                                                  const at::Tensor& gradient);

// Adds to exact_blocks() (ops/aft.h). Any thread.
void count_exact_block(int64_t blocks = 1);

}  // namespace aft::ops
