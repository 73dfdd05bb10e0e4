// One call of the tiled operators and its gradient.
#include "model/ops/tiled/tiled.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/ops/autograd.h"
#include "model/ops/common/checks.h"
#include "model/ops/tiled/call.h"

namespace aft::ops::tiled {

namespace {

// dK = sum_s (V - mu) dV + X SC cancels where almost every row attends to a single source. The
// difference is trusted if it is finite and not below a fiftieth of its parts (float32: 2e-5 of
// it).
bool is_trusted(const BackwardResult& g, const Plan& plan) {
    const at::Tensor& V = plan.x.values;
    const at::Tensor part = g.x.values * (V - V.mean(1, true));
    bool finite = true;
    for (const at::Tensor& x : {g.x.values, g.bias.w, g.bias.u, g.bias.r})
        if (x.defined()) finite = finite && x.mul(0).sum().item<double>() == 0;
    return finite && g.x.keys.norm().item<double>() >= 0.02 * part.norm().item<double>();
}

// A power of two that brings P near 1, so that neither tiny nor huge loss scales underflow.
double scale_of(const at::Tensor& P) {
    const double largest = P.abs().amax().item<double>();
    if (!std::isfinite(largest) || largest == 0) return 1;
    const int exponent = std::ilogb(largest);
    return std::abs(exponent) < 20 ? 1 : std::ldexp(1.0, exponent);
}

BackendResult evaluate(const Call& call, bool) {
    if (call.in.v.numel() == 0)
        return {.y = at::zeros_like(call.in.v), .average = {}, .denominator = {}, .states = {}};
    const GroupedCall x(call);
    const PositionBias bias(x.problem.shape, x.bias, x.plan.x.length(), x.plan.x.keys.options());
    const Average found = average(x.plan, bias);
    return {.y = from_groups(found.R, call.in.v),
            .average = found.R,
            .denominator = found.D,
            .states = {}};
}

Gradients differentiate(const Call& call, const BackendResult& kept, const at::Tensor& dy) {
    const GroupedCall x(call);
    const at::Tensor grouped = x.grouped(dy);
    const double scale = scale_of(grouped);
    const at::Tensor P = scale == 1 ? grouped : grouped.div(scale);
    BackwardResult g = average_backward(x, {{.R = kept.average, .D = kept.denominator}, P});
    if (call.in.k.scalar_type() == at::kFloat && !is_trusted(g, x.plan))
        g = average_backward_in_double(x, P);
    return x.inputs_of(g, scale);
}

at::Tensor average_of(OperatorKind kind, const Inputs& in, const Options& options) {
    if (kind == OperatorKind::softmax) return softmax(in, options);
    if (kind == OperatorKind::linear) return linear(in, options);
    Call call{.kind = kind, .options = options, .in = in};
    call.in.q = at::Tensor();  // the gate is a tensor call of its own
    call.options.backend = OperatorBackend::tiled;
    return apply_differentiably(call);
}

at::Tensor apply(OperatorKind kind, const Inputs& in, const Options& options) {
    const at::Tensor R = average_of(kind, in, options);
    return has_gate(kind) && in.q.defined() ? in.q.sigmoid() * R : R;
}

const char* why_not(OperatorKind, const Inputs&, const Options&) {
    return nullptr;
}

}  // namespace

const BackendFunctions& functions() {
    static constexpr BackendFunctions table{.name = "tiled",
                                            .why_not = why_not,
                                            .apply = apply,
                                            .evaluate = evaluate,
                                            .differentiate = differentiate};
    return table;
}

}  // namespace aft::ops::tiled
