// Gradient in float64, for backends whose float32 gradient is not accurate enough for a call.
// Internal to model/ops.
#pragma once
#include "model/ops/backend.h"

namespace aft::ops {

// All gradients but that of q, by the tiled backend in float64, exact path included; as the inputs.
// P [B, T, d]: the gradient of the average, before the gate. Slow; for rare calls.
[[nodiscard]] Gradients gradient_in_double(const Call& call, const at::Tensor& P);

}  // namespace aft::ops
