// Gradient in float64, for the cpu backend where its float32 gradient is not accurate enough.
// Internal to model/ops.
#pragma once
#include "model/ops/backend.h"

namespace aft::ops::tiled {

// All gradients but that of q, the tiled way in float64, exact path included; as the inputs. P
// [B, T, d]: the gradient of the average, before the gate. Slow; for rare calls.
[[nodiscard]] Gradients gradient_in_double(const Call& call, const at::Tensor& P);

}  // namespace aft::ops::tiled
