#include "model/ops/tiled/float64_gradient.h"

#include <ATen/ATen.h>

#include "model/ops/tiled/call.h"

namespace aft::ops::tiled {

namespace {

// The call in groups.
struct InGroups {
    Problem problem;
    Plan plan;
    BiasTensors tensors;
    at::Tensor like_keys, like;

    explicit InGroups(const Wanted& call)
        : tensors{call.in.w, call.in.u, call.in.r}, like_keys(call.in.k), like(call.in.v) {
        const Grouped x = to_groups(call.kind, call.in.k, call.in.v);
        problem = problem_of(call.kind, call.options, x);
        plan = make_plan(problem, x.keys.contiguous(), x.values.contiguous());
    }
    [[nodiscard]] at::Tensor in(const at::Tensor& x) const {
        return to_groups(problem.shape.kind, like_keys, x).values.contiguous();
    }
    [[nodiscard]] InputGradients out(const Gradient& g) const {
        const auto type = like.scalar_type();
        const auto cast = [&](const at::Tensor& x) { return x.defined() ? x.to(type) : x; };
        return {.k = from_groups(cast(g.x.keys), like_keys),
                .v = from_groups(cast(g.x.values), like),
                .w = cast(g.bias.w),
                .u = cast(g.bias.u),
                .r = cast(g.bias.r)};
    }
};

}  // namespace

InputGradients gradient_in_double(const Wanted& call, const at::Tensor& P) {
    const InGroups x(call);
    return x.out(differentiate_in_double({x.problem, x.tensors}, x.plan, x.in(P)));
}

}  // namespace aft::ops::tiled
