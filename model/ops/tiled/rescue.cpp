#include "model/ops/tiled/rescue.h"

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
    [[nodiscard]] Bias bias() const {
        return {problem.shape, tensors, plan.x.length(), plan.x.keys.options()};
    }
    [[nodiscard]] at::Tensor in(const at::Tensor& x) const {
        return to_groups(problem.shape.kind, like_keys, x).values.contiguous();
    }
    [[nodiscard]] Average average(const Flagged& result) const {
        const Grouped x = to_groups(problem.shape.kind, result.D, result.R);
        return {.R = x.values.contiguous(), .D = x.keys.contiguous()};
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

void repair(const Wanted& call, const Flagged& result) {
    const InGroups x(call);
    Average average = x.average(result);
    repair_flagged(x.plan, x.bias(), average);
    at::Tensor R = result.R, D = result.D;
    R.copy_(from_groups(average.R, x.like));
    D.copy_(from_groups(average.D, x.like_keys));
}

InputGradients flagged_gradient(const Wanted& call, const Flagged& result, const at::Tensor& P) {
    const InGroups x(call);
    Bias bias = x.bias();
    KeyValueGradient out{.keys = at::zeros_like(x.plan.x.keys),
                         .values = at::zeros_like(x.plan.x.values)};
    const Upstream upstream{x.average(result), x.in(P)};
    add_exact_gradient(x.plan, bias, upstream, out);
    return x.out({out, bias.gradient()});
}

InputGradients gradient_in_double(const Wanted& call, const at::Tensor& P) {
    const InGroups x(call);
    return x.out(differentiate_in_double({x.problem, x.tensors}, x.plan, x.in(P)));
}

}  // namespace aft::ops::tiled
