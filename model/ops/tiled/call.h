// One call of a tiled operator, as its gradient needs it again. Internal to tiled.
#pragma once
#include "model/ops/tiled/engine.h"

namespace aft::ops::tiled {

struct Problem {
    Shape shape;
    int64_t groups = 1, batch = 1;
};
[[nodiscard]] Problem problem_of(Kind kind, const Options& options, const Grouped& x);
[[nodiscard]] Plan make_plan(const Problem& problem, const at::Tensor& keys,
                             const at::Tensor& values);

// An operator call but for its keys and values.
struct Call {
    Problem problem;
    BiasTensors bias;
};

struct Gradient {
    KeyValueGradient x;
    BiasTensors bias;
};
[[nodiscard]] Gradient differentiate(const Call& call, const Plan& plan, const Upstream& upstream);
// The same in float64, forward pass included. P [G, T, N*S]: the gradient of the average.
[[nodiscard]] Gradient differentiate_in_double(const Call& call, const Plan& plan,
                                               const at::Tensor& P);

}  // namespace aft::ops::tiled
