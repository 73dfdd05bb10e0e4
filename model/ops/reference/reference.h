// The reference backend: every operator as the paper defines it, in float64, in plain tensor calls.
// It is the oracle that every other backend is compared with. One file per operator. Each function
// returns the weighted average [B, T, d] before the query gate, in float64, differentiable, of
// checked inputs. Never fast; memory O(T^2) for the bias, never T*T*d.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/aft.h"

namespace aft::ops::reference {

[[nodiscard]] at::Tensor simple(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor full(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor local(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor conv1d(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor conv2d(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor softmax(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor linear(const Inputs& in, const Options& options);

// Effective bias of each operator [G, T, T], float64, 0 where the operator has none.
// Differentiable.
[[nodiscard]] at::Tensor full_bias(const Inputs& in);
[[nodiscard]] at::Tensor local_bias(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor conv1d_bias(const at::Tensor& kernel, int64_t T, const Options& options);
[[nodiscard]] at::Tensor conv2d_bias(const at::Tensor& kernel, const Options& options);

// Everything after the target becomes -inf. Differentiable.
[[nodiscard]] at::Tensor hide_future(const at::Tensor& bias);
// The definition: softmax over j of (bias + K), times V. bias [G, T, T] with -inf where invisible.
[[nodiscard]] at::Tensor average(OperatorKind kind, const at::Tensor& bias, const Inputs& in,
                                 bool causal);

}  // namespace aft::ops::reference
