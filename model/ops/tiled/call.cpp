#include "model/ops/tiled/call.h"

#include <ATen/ATen.h>

namespace aft::ops::tiled {

namespace {

at::Tensor in_double(const at::Tensor& x) {
    return x.defined() ? x.to(at::kDouble) : x;
}

}  // namespace

TiledProblem problem_of(OperatorKind kind, const Options& options, const Grouped& x) {
    return {.shape = shape_of(kind, options), .groups = x.groups, .batch = x.batch};
}

Plan make_plan(const TiledProblem& problem, const at::Tensor& keys, const at::Tensor& values) {
    Plan plan;
    plan.x = {.keys = keys, .values = values, .groups = problem.groups, .batch = problem.batch};
    plan.block = choose_block(problem.shape, keys.size(1));
    plan.causal = problem.shape.causal;
    return plan;
}

GroupedCall::GroupedCall(const Call& call) : bias{call.in.w, call.in.u, call.in.r}, like(call.in) {
    const Grouped x = to_groups(call.kind, call.in.k, call.in.v);
    problem = problem_of(call.kind, call.options, x);
    plan = make_plan(problem, x.keys.contiguous(), x.values.contiguous());
}

at::Tensor GroupedCall::grouped(const at::Tensor& x) const {
    return to_groups(problem.shape.kind, like.k, x).values.contiguous();
}

Gradients GroupedCall::inputs_of(const BackwardResult& g, double scale) const {
    const auto finish = [&](const at::Tensor& x) {
        return x.defined() ? (scale == 1 ? x : x * scale).to(like.v.scalar_type()) : x;
    };
    return {.q = {},
            .k = from_groups(finish(g.x.keys), like.k),
            .v = from_groups(finish(g.x.values), like.v),
            .w = finish(g.bias.w),
            .u = finish(g.bias.u),
            .r = finish(g.bias.r)};
}

BackwardResult average_backward(const GroupedCall& call, const Upstream& upstream) {
    PositionBias bias(call.problem.shape, call.bias, call.plan.x.length(),
                      call.plan.x.keys.options());
    KeyValueGradient x = average_gradient(call.plan, bias, upstream);
    return {x, bias.gradient()};
}

BackwardResult average_backward_in_double(const GroupedCall& call, const at::Tensor& P) {
    GroupedCall wide = call;
    wide.plan = make_plan(call.problem, call.plan.x.keys.to(at::kDouble),
                          call.plan.x.values.to(at::kDouble));
    wide.bias = {in_double(call.bias.w), in_double(call.bias.u), in_double(call.bias.r)};
    const PositionBias bias(wide.problem.shape, wide.bias, wide.plan.x.length(),
                            wide.plan.x.keys.options());
    return average_backward(wide, {average(wide.plan, bias), P.to(at::kDouble)});
}

}  // namespace aft::ops::tiled
