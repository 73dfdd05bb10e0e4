#include "model/mixers/fused_branch.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <utility>

#include "core/check.h"
#include "model/mixers/cost.h"
#include "model/nn/cpu/rows.h"
#include "model/nn/fused_parts.h"
#include "model/nn/products.h"
#include "model/ops/backend.h"
#include "model/ops/common/saved.h"

namespace aft {

namespace {

using ops::or_nothing;
using ops::or_undefined;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What a node keeps besides tensors.
struct BranchPlan : torch::CustomClassHolder {
    const ops::BackendFunctions* functions = nullptr;
    ops::Call call;  // without its tensors
    double eps = 0;
    Arithmetic arithmetic = Arithmetic::fp32;
    bool keeps = false;  // a gradient may be wanted
    bool averages_again = false;
};

// The node's inputs; the last ones are there to be kept, and get their gradients elsewhere.
enum In : size_t { kX, kQ, kK, kV, kW, kU, kR, kOut, kOutBias, kMask, kFirstKept };
// Of the kept ones: norm weight, norm bias, then weight and bias ([0]: none) of q, k and v.
constexpr size_t kNorm = kFirstKept, kMaps = kNorm + 2, kInputs = kMaps + 6;

void set_bias(ops::Call& call, const variable_list& saved) {
    call.in.w = or_undefined(saved[kW]);
    call.in.u = or_undefined(saved[kU]);
    call.in.r = or_undefined(saved[kR]);
}

// q, k and v as the forward pass had them.
void project_again(ops::Call& call, const variable_list& saved, const BranchPlan& plan) {
    nn::Normed norm{nn::rows_of(saved[kX]), saved[kNorm], saved[kNorm + 1], plan.eps};
    const at::Tensor normed = nn::operand(norm(), plan.arithmetic);
    const std::array<at::Tensor*, 3> to{&call.in.q, &call.in.k, &call.in.v};
    for (size_t i = 0; i < to.size(); ++i) {
        const at::Tensor weight = or_undefined(saved[kMaps + 2 * i]);
        if (!weight.defined()) continue;  // no gate
        std::vector<int64_t> shape = saved[kX].sizes().vec();
        shape.back() = weight.size(0);
        const at::Tensor& bias = saved[kMaps + 2 * i + 1];
        *to[i] = nn::apply_map(normed, nn::operand(weight, plan.arithmetic),
                               bias.numel() > 0 ? bias : at::zeros({shape.back()}, bias.options()))
                     .view(shape);
    }
}

// Y of what the operator has kept.
at::Tensor output_again(const ops::Call& call, const ops::BackendResult& kept,
                        const ops::BackendFunctions& functions) {
    if (kept.y.defined()) return kept.y;
    if (!kept.average.defined()) return functions.evaluate(call, false).y;  // a scan is cheap
    if (!call.in.q.defined()) return kept.average;
    const at::Tensor q = nn::rows_of(call.in.q), average = nn::rows_of(kept.average);
    at::Tensor y = at::empty_like(q);
    nn::cpu::gate_rows({.q = nn::pointer(q),
                        .x = nn::pointer(average),
                        .rows = q.size(0),
                        .width = q.size(1),
                        .y = y.data_ptr<float>()});
    return y.view_as(call.in.q);
}

struct OperatorBranch : torch::autograd::Function<OperatorBranch> {
    static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                              const c10::intrusive_ptr<BranchPlan>& plan) {
        variable_list saved = inputs.vec();
        ops::Call call = plan->call;
        call.in.q = or_undefined(saved[kQ]);
        call.in.k = saved[kK];
        call.in.v = saved[kV];
        set_bias(call, saved);
        const ops::BackendResult result = plan->functions->evaluate(call, plan->keeps);
        if (plan->keeps) {
            for (const size_t again : {kQ, kK, kV}) saved[again] = at::Tensor();
            for (const at::Tensor& kept : {result.average, result.denominator, result.states})
                saved.push_back(plan->averages_again ? at::Tensor() : kept);
            context->save_for_backward(saved);
            context->saved_data["plan"] = c10::IValue::make_capsule(plan);
        }
        const at::Tensor& x = inputs[kX];
        return nn::joined({nn::operand(nn::rows_of(result.y), plan->arithmetic),
                           nn::operand(inputs[kOut], plan->arithmetic), inputs[kOutBias],
                           inputs[kMask], nn::rows_of(x)})
            .view_as(x);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second("the fused layers");
        const variable_list saved = context->get_saved_variables();
        const auto plan = c10::dynamic_intrusive_pointer_cast<BranchPlan>(
            context->saved_data["plan"].toCapsule());
        ops::Call call = plan->call;
        set_bias(call, saved);
        project_again(call, saved, *plan);
        const ops::BackendResult kept = plan->averages_again
                                            ? plan->functions->evaluate(call, true)
                                            : ops::BackendResult{.y = {},
                                                                 .average = saved[kInputs],
                                                                 .denominator = saved[kInputs + 1],
                                                                 .states = saved[kInputs + 2]};
        variable_list out(kInputs + 1);  // of the inputs and the plan
        at::Tensor wide = nn::rows_of(gradients[0]);
        if (saved[kMask].numel() > 0) wide = wide.mul(saved[kMask].view_as(wide));
        const at::Tensor d = nn::operand(wide, plan->arithmetic);
        out[kX] = gradients[0];
        out[kOutBias] = nn::column_sums(wide);
        out[kOut] = nn::weight_gradient(
            d,
            nn::operand(nn::rows_of(output_again(call, kept, *plan->functions)), plan->arithmetic));
        const at::Tensor dy =
            nn::product(d, nn::operand(saved[kOut], plan->arithmetic)).view_as(call.in.v);
        const ops::Gradients g = plan->functions->differentiate(call, kept, dy);
        out[kQ] = g.q;
        out[kK] = g.k;
        out[kV] = g.v;
        out[kW] = g.w;
        out[kU] = g.u;
        out[kR] = g.r;
        return out;
    }
};

WindowSize window_of(const ops::Call& call) {
    const ops::Inputs& in = call.in;
    const auto T = static_cast<double>(in.v.size(1));
    const auto window =
        call.kind == ops::OperatorKind::full ? T : static_cast<double>(call.options.window);
    return {.sources = call.is_conv() ? static_cast<double>(in.w[0].numel())
                                      : visible_pairs(T, window, call.options.causal) / T,
            .values = static_cast<double>(in.v.size(2)),
            .keys = static_cast<double>(in.k.size(2)),
            .factors = in.u.defined() ? static_cast<double>(in.u.size(1)) : 0};
}

bool wants_gradient(const variable_list& inputs) {
    bool wants = false;
    for (const at::Tensor& x : inputs) wants = wants || x.requires_grad();
    return wants && at::GradMode::is_enabled();
}

}  // namespace

std::optional<at::Tensor> add_operator(const at::Tensor& x, const BranchMaps& maps,
                                       const BranchOperator& op, const BranchEnd& end) {
    const ops::BackendFunctions& functions = ops::chosen_backend(op.kind, op.in, op.options);
    if (functions.prepare == nullptr) return {};
    const auto plan = c10::make_intrusive<BranchPlan>();
    plan->functions = &functions;
    plan->call = functions.prepare(op.kind, op.in, op.options);
    plan->eps = maps.norm->eps;
    plan->averages_again = !plan->call.is_simple() &&
                           is_averaged_again(window_of(plan->call), static_cast<double>(x.size(2)));
    plan->arithmetic = end.arithmetic;
    const ops::Inputs in = std::exchange(plan->call.in, {});
    const auto given = [&](const at::Tensor& one) { return or_nothing(one, x); };
    variable_list inputs{x,
                         given(in.q),
                         in.k,
                         in.v,
                         given(in.w),
                         given(in.u),
                         given(in.r),
                         maps.o->weight,
                         maps.o->bias,
                         nn::mask_of(end, x),
                         maps.norm->weight,
                         maps.norm->bias};
    for (const Linear* map : {maps.q, maps.k, maps.v})
        for (const at::Tensor& one : {map != nullptr ? map->weight : at::Tensor(),
                                      map != nullptr ? map->bias : at::Tensor()})
            inputs.push_back(given(one));
    plan->keeps = wants_gradient(inputs);
    return OperatorBranch::apply(at::TensorList(inputs), plan);
}

}  // namespace aft
