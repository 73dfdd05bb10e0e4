// What other backends ask of the exact path, in their layout: values [B, T, d], keys as the inputs
// have them, [B, T, d] or [B, T, h].
// Internal to model/ops.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/aft.h"

namespace aft::ops::tiled {

struct Flagged {
    at::Tensor R, D;  // as the values and the keys: entries with D < 0 are wanted
};
struct Wanted {
    Kind kind = Kind::full;
    const Inputs& in;
    const Options& options;
};
// Computes the flagged entries of R in float64 and log space, in place; neighbours that are
// computed with them are flagged too.
void repair(const Wanted& call, const Flagged& result);

struct InputGradients {
    at::Tensor k, v, w, u, r;  // as the inputs; undefined where they are
};
// The part of the gradient that flows through the flagged entries. P [B, T, d]: the gradient of R.
[[nodiscard]] InputGradients flagged_gradient(const Wanted& call, const Flagged& result,
                                              const at::Tensor& P);
// All of the gradient, the tiled way in float64, exact path included. Slow; for the rare call whose
// gradient cannot be trusted.
[[nodiscard]] InputGradients gradient_in_double(const Wanted& call, const at::Tensor& P);

}  // namespace aft::ops::tiled
