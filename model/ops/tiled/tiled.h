// The tiled backend: the training path. Row blocks of separable exp-GEMMs in the inputs' own
// precision; every entry checks its own scaling and takes the exact float64 path where it is not
// safe. Returns the weighted average [B, T, d] before the query gate; differentiable; called by
// aft.cpp only, with checked inputs. Deterministic. Memory O(T d) plus one row block of weights.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/backend.h"

namespace aft::ops::tiled {

// For autograd.cpp: simple, full, local, conv1d, conv2d.
[[nodiscard]] const BackendFunctions& functions();

// simple, full, local, conv1d, conv2d
[[nodiscard]] at::Tensor aft(OperatorKind kind, const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor softmax(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor linear(const Inputs& in, const Options& options);

}  // namespace aft::ops::tiled
