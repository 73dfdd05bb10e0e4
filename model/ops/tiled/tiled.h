// The tiled backend: the training path. Row blocks of separable exp-GEMMs in the inputs' own
// precision; every entry checks its own scaling and takes the exact float64 path where it is not
// safe. Differentiable; checked inputs. Deterministic. Memory O(T d) plus one row block of weights.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/backend.h"

namespace aft::ops::tiled {

// The baselines: the weighted average [B, T, d].
[[nodiscard]] at::Tensor softmax(const Inputs& in, const Options& options);
[[nodiscard]] at::Tensor linear(const Inputs& in, const Options& options);

}  // namespace aft::ops::tiled
