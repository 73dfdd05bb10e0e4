// Forms made ready: inputs in the form's precision, tables cached, graphs built. Gradients are
// those of a graph kept from one forward pass, for ours and peers alike: the backward alone is
// timed.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

ops::Inputs turned(const ops::Inputs& in, const Form& form, bool gradients) {
    ops::Inputs out;
    const auto leaf = [&](const at::Tensor& x, at::ScalarType type) {
        if (!x.defined()) return x;
        const at::Tensor own = x.detach().to(type);  // forward alone shares the tensors
        return gradients ? own.clone().requires_grad_(true) : own;
    };
    out.q = leaf(in.q, form.type);
    out.k = leaf(in.k, form.type);
    out.v = leaf(in.v, form.type);
    if (form.exact) return out;  // knows nothing of w
    out.w = leaf(in.w, at::kFloat);
    out.u = leaf(in.u, at::kFloat);
    out.r = leaf(in.r, at::kFloat);
    return out;
}

at::Tensor table_of(const Form& form, const ops::Inputs& in) {
    return form.table ? form.table(in).to(form.type) : at::Tensor();
}

std::function<Tensors()> forward_run(const Problem& problem, const Form& form) {
    const c10::NoGradGuard no_gradients;
    const ops::Inputs in = turned(problem.in, form, false);
    return [form, in, table = table_of(form, in)]() -> Tensors {
        const c10::NoGradGuard off;
        return {form.forward(in, table)};
    };
}

std::function<Tensors()> backward_run(const Problem& problem, const Form& form) {
    const c10::AutoGradMode on(true);
    const ops::Inputs in = turned(problem.in, form, true);
    const at::Tensor y = form.forward(in, table_of(form, in));
    const at::Tensor dy = problem.dy.to(y.scalar_type());
    return [y, dy, leaves = leaves_of(in)]() -> Tensors {
        return torch::autograd::grad({y}, leaves, {dy}, true);
    };
}

const char* precision_of(at::ScalarType type) {
    return type == at::kBFloat16 ? "bf16" : "fp32";
}

Form ours(const Problem& problem, at::ScalarType type) {
    return {.name = type == at::kBFloat16 ? "afterimage bf16" : "afterimage",
            .group = "ours",
            .type = type,
            .table = {},
            .forward = [kind = problem.kind, options = problem.options](
                           const ops::Inputs& in,
                           const at::Tensor&) { return ops::apply(kind, in, options); },
            .exact = {}};
}

// Tensors in bfloat16: aft-simple, which is bound by their bytes; full and local where no gradient
// is wanted, whose products have operands in bfloat16 too.
bool has_bf16_form(const Problem& problem) {
    if (problem.kind == ops::OperatorKind::simple) return true;
    return !problem.backward &&
           (problem.kind == ops::OperatorKind::full || problem.kind == ops::OperatorKind::local);
}

}  // namespace

std::vector<Form> forms_of(const Problem& problem) {
    std::vector<Form> all{ours(problem, at::kFloat)};
    if (has_bf16_form(problem)) all.push_back(ours(problem, at::kBFloat16));
    for (const PeerRoom& room : peers())
        for (Form& form : room.forms(problem))
            if (problem.group.empty() || form.group == problem.group)
                all.push_back(std::move(form));
    return all;
}

Contestant contestant(const Problem& problem, const Form& form) {
    return {.name = form.name,
            .group = form.group,
            .precision = precision_of(form.type),
            .ours = form.group == "ours",
            .run = problem.backward ? backward_run(problem, form) : forward_run(problem, form),
            .exact = form.exact};
}

std::vector<Contestant> contestants(const Problem& problem) {
    std::vector<Contestant> all;
    for (const Form& form : forms_of(problem)) all.push_back(contestant(problem, form));
    return all;
}

std::function<Tensors()> both_ways(const Problem& problem, const Form& form) {
    const ops::Inputs in = turned(problem.in, form, true);
    return [form, in, leaves = leaves_of(in), dy = problem.dy.to(form.type)]() -> Tensors {
        const c10::AutoGradMode on(true);
        const at::Tensor y = form.forward(in, table_of(form, in));
        return torch::autograd::grad({y}, leaves, {dy.to(y.scalar_type())});
    };
}

}  // namespace aft::bench
