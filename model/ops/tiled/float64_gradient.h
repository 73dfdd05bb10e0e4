// What other backends ask of the exact path, in their layout: values [B, T, d], keys as the inputs
// have them, [B, T, d] or [B, T, h].
// Internal to model/ops.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/aft.h"

namespace aft::ops::tiled {

struct Wanted {
    Kind kind = Kind::full;
    const Inputs& in;
    const Options& options;
};
struct InputGradients {
    at::Tensor k, v, w, u, r;  // as the inputs; undefined where they are
};
// All of the gradient, the tiled way in float64, exact path included. P [B, T, d]: the gradient of
// R. Slow; for the rare call whose gradient cannot be trusted.
[[nodiscard]] InputGradients gradient_in_double(const Wanted& call, const at::Tensor& P);

// Counts a row block that took an exact path of the backend's own (exact_blocks()).
void count_exact_block();

}  // namespace aft::ops::tiled
