// One call of a tiled operator in groups (common/groups.h). Internal to tiled.
#pragma once
#include "model/ops/backend.h"
#include "model/ops/tiled/engine.h"

namespace aft::ops::tiled {

struct TiledProblem {
    OperatorShape shape;
    int64_t groups = 1, batch = 1;
};
[[nodiscard]] TiledProblem problem_of(OperatorKind kind, const Options& options, const Grouped& x);
[[nodiscard]] Plan make_plan(const TiledProblem& problem, const at::Tensor& keys,
                             const at::Tensor& values);

struct BackwardResult {
    KeyValueGradient x;
    BiasTensors bias;
};

struct GroupedCall {
    explicit GroupedCall(const Call& call);
    TiledProblem problem;
    Plan plan;
    BiasTensors bias;
    Inputs like;

    // [B, T, d] -> [G, T, N*S], contiguous
    [[nodiscard]] at::Tensor grouped(const at::Tensor& x) const;
    // Times `scale`, in the shapes and dtypes of the inputs.
    [[nodiscard]] Gradients inputs_of(const BackwardResult& g, double scale) const;
};

[[nodiscard]] BackwardResult average_backward(const GroupedCall& call, const Upstream& upstream);
// The same in float64, forward pass included. P [G, T, N*S]: the gradient of the average.
[[nodiscard]] BackwardResult average_backward_in_double(const GroupedCall& call,
                                                        const at::Tensor& P);

}  // namespace aft::ops::tiled
