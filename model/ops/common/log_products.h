// The logits of linear attention in log space: L[t,j] = log sum_c exp(q[t,c] + k[j,c]) with log
// features q, k [B, T, d], and their gradient. In pieces of rows, so that memory stays bounded.
// Float64. Internal to model/ops; autograd.cpp makes them differentiable.
#pragma once
#include <ATen/core/Tensor.h>

namespace aft::ops {

[[nodiscard]] at::Tensor log_products_of(const at::Tensor& q, const at::Tensor& k);  // [B, T, T]

struct LogProductsGradient {
    at::Tensor q, k;  // [B, T, d]
};
// dL [B, T, T]
[[nodiscard]] LogProductsGradient log_products_gradient(const at::Tensor& q, const at::Tensor& k,
                                                        const at::Tensor& dL);

}  // namespace aft::ops
