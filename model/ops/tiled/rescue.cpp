#include "model/ops/tiled/rescue.h"

#include <ATen/ATen.h>

#include "model/ops/tiled/call.h"

namespace aft::ops::tiled {

namespace {

// The call in groups: here one group, its columns the channels of all samples.
struct InGroups {
    Problem problem;
    Plan plan;
    BiasTensors tensors;
    at::Tensor like;

    explicit InGroups(const Wanted& call)
        : tensors{call.in.w, call.in.u, call.in.r}, like(call.in.v) {
        const Grouped x = to_groups(call.kind, call.in.k, call.in.v);
        problem = problem_of(call.kind, call.options, x);
        plan = make_plan(problem, x.keys.contiguous(), x.values.contiguous());
    }
    [[nodiscard]] Bias bias() const {
        return {problem.shape, tensors, plan.x.length(), plan.x.keys.options()};
    }
    [[nodiscard]] at::Tensor in(const at::Tensor& x) const {
        return to_groups(problem.shape.kind, x, x).values.contiguous();
    }
    [[nodiscard]] InputGradients out(const Gradient& g) const {
        const auto type = like.scalar_type();
        const auto cast = [&](const at::Tensor& x) { return x.defined() ? x.to(type) : x; };
        return {.k = from_groups(cast(g.x.keys), like),
                .v = from_groups(cast(g.x.values), like),
                .w = cast(g.bias.w),
                .u = cast(g.bias.u),
                .r = cast(g.bias.r)};
    }
};

}  // namespace

void repair(const Wanted& call, const Flagged& result) {
    const InGroups x(call);
    Average average{.R = x.in(result.R), .D = x.in(result.D)};
    repair_flagged(x.plan, x.bias(), average);
    at::Tensor R = result.R, D = result.D;
    R.copy_(from_groups(average.R, x.like));
    D.copy_(from_groups(average.D, x.like));
}

InputGradients flagged_gradient(const Wanted& call, const Flagged& result, const at::Tensor& P) {
    const InGroups x(call);
    Bias bias = x.bias();
    KeyValueGradient out{.keys = at::zeros_like(x.plan.x.keys),
                         .values = at::zeros_like(x.plan.x.values)};
    const Upstream upstream{{.R = x.in(result.R), .D = x.in(result.D)}, x.in(P)};
    add_exact_gradient(x.plan, bias, upstream, out);
    return x.out({out, bias.gradient()});
}

InputGradients gradient_in_double(const Wanted& call, const at::Tensor& P) {
    const InGroups x(call);
    return x.out(differentiate_in_double({x.problem, x.tensors}, x.plan, x.in(P)));
}

}  // namespace aft::ops::tiled
