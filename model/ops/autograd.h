// Where the backends meet LibTorch's autograd: each of these records one node. Gradients of
// gradients are refused (Error) where the backward pass is no tensor calls. Internal to model/ops.
#pragma once
#include "model/ops/backend.h"

namespace aft::ops {

// y of a call by options.backend, one with evaluate() and differentiate().
[[nodiscard]] at::Tensor apply_differentiably(const Call& call);

// The reference backend's average: bias [G, T, T] with -inf where invisible, keys [G, T, N], values
// [G, T, N*S] (float64) -> [G, T, N*S]. causal: nothing right of the diagonal is looked at.
[[nodiscard]] at::Tensor exact_attend(const at::Tensor& bias, const at::Tensor& keys,
                                      const at::Tensor& values, bool causal);

// q, k [B, T, d] log features -> [B, T, T], log sum_c exp(q[t,c] + k[j,c]).
[[nodiscard]] at::Tensor log_products(const at::Tensor& q, const at::Tensor& k);

}  // namespace aft::ops
