// What the fused nodes (fused.h, mixers/fused_branch.h) share. Internal to model/nn; no gradients
// are recorded. Tensors are float32 on the processor; rows: [N, d] without gaps.
#pragma once
#include <ATen/core/Tensor.h>

#include <utility>

#include "model/nn/layers.h"

namespace aft::nn {

[[nodiscard]] inline const float* pointer(const at::Tensor& x) {
    return x.const_data_ptr<float>();
}
[[nodiscard]] at::Tensor rows_of(const at::Tensor& x);  // [..., d] -> [N, d]
// x as a matrix product takes it.
[[nodiscard]] at::Tensor operand(const at::Tensor& x, Arithmetic arithmetic);
[[nodiscard]] at::Tensor column_sums(const at::Tensor& x);  // [N, d] -> [d]
// How a branch ends: x + mask * (from weight^T + bias), mask [0]: none. from [N, K] and weight [d,
// K] as matrix products take them; x [N, d].
struct BranchTail {
    at::Tensor from, weight, bias, mask, x;
};
[[nodiscard]] at::Tensor joined(const BranchTail& in);
// [0]: no dropout
[[nodiscard]] at::Tensor mask_of(const BranchEnd& end, const at::Tensor& x);

// A layer norm whose output is not kept.
struct Normed {
    at::Tensor x, weight, bias;  // x [N, d]
    double eps = 0;
    at::Tensor stats{};  // [N, 2], undefined at first

    [[nodiscard]] at::Tensor operator()();
    // dy [N, d] becomes the gradient of x, `added` (undefined: none) included; -> those of weight
    // and bias.
    [[nodiscard]] std::pair<at::Tensor, at::Tensor> gradient(at::Tensor& dy,
                                                             const at::Tensor& added) const;
};

}  // namespace aft::nn
