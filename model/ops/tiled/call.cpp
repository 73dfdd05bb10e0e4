#include "model/ops/tiled/call.h"

#include <ATen/ATen.h>

namespace aft::ops::tiled {

namespace {

at::Tensor in_double(const at::Tensor& x) {
    return x.defined() ? x.to(at::kDouble) : x;
}

}  // namespace

Problem problem_of(Kind kind, const Options& options, const Grouped& x) {
    return {.shape = {.kind = kind,
                      .causal = options.causal,
                      .window = options.window,
                      .outside_hidden = options.outside_hidden,
                      .grid_height = options.grid_height,
                      .grid_width = options.grid_width,
                      .row_block = options.row_block},
            .groups = x.groups,
            .batch = x.batch};
}

Plan make_plan(const Problem& problem, const at::Tensor& keys, const at::Tensor& values) {
    Plan plan;
    plan.x = {.keys = keys, .values = values, .groups = problem.groups, .batch = problem.batch};
    plan.block = choose_block(problem.shape, keys.size(1));
    plan.causal = problem.shape.causal;
    return plan;
}

Gradient differentiate(const Call& call, const Plan& plan, const Upstream& upstream) {
    Bias bias(call.problem.shape, call.bias, plan.x.length(), plan.x.keys.options());
    KeyValueGradient x = average_gradient(plan, bias, upstream);
    return {x, bias.gradient()};
}

Gradient differentiate_in_double(const Call& call, const Plan& plan, const at::Tensor& P) {
    const Plan wide =
        make_plan(call.problem, plan.x.keys.to(at::kDouble), plan.x.values.to(at::kDouble));
    const Call in_wide{call.problem,
                       {in_double(call.bias.w), in_double(call.bias.u), in_double(call.bias.r)}};
    const Bias bias(call.problem.shape, in_wide.bias, wide.x.length(), wide.x.keys.options());
    return differentiate(in_wide, wide, {average(wide, bias), P.to(at::kDouble)});
}

}  // namespace aft::ops::tiled
