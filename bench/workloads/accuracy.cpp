// The six extreme cases: keys up to +-100 and biases up to +-50, where the usual forms overflow.
// Forward error relative to max|V|, gradients by relative L2 norm, against float64.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "bench/peers/peer.h"
#include "bench/timing/rounds.h"
#include "core/check.h"

namespace aft::bench {
namespace {

using nlohmann::json;

struct AccuracyCase {
    const char* name;
    double keys, bias;  // K ~ keys * N and w ~ bias * N
    void (*shape)(ops::Inputs& in);
};

at::Tensor within(const at::Tensor& like, double size) {
    return (at::rand_like(like) * 2 - 1) * size;
}

// Every 37th key stands out, and w = -50 hides it.
void spikes(ops::Inputs& in, double height) {
    for (int64_t j = 5; j < in.k.size(1); j += 37) {
        in.k.select(1, j).fill_(height);
        in.w.select(1, j).fill_(-50);
    }
}

void saw_tooth(ops::Inputs& in) {
    const at::Tensor saw = at::arange(in.k.size(1), at::kFloat).remainder(32) * (200.0 / 31) - 100;
    in.k = saw.view({1, -1, 1}).expand_as(in.k).clone();
    in.w = within(in.w, 50);
}

const std::vector<AccuracyCase>& cases() {
    static const std::vector<AccuracyCase> all{
        {"K ~ N, w ~ 0.1 N", 1, 0.1, [](ops::Inputs&) {}},
        {"K ~ 3N, w ~ 2N", 3, 2, [](ops::Inputs&) {}},
        {"K in +-100, w in +-50", 1, 1,
         [](ops::Inputs& in) { in.k = within(in.k, 100), in.w = within(in.w, 50); }},
        {"K saw-tooth of +-100", 1, 1, saw_tooth},
        {"spikes K = 100 under w = -50", 1, 1, [](ops::Inputs& in) { spikes(in, 100); }},
        {"w = -50 hides spikes K = 30", 1, 1, [](ops::Inputs& in) { spikes(in, 30); }}};
    return all;
}

Problem problem_of(const AccuracyCase& one, bool quick) {
    const Shape shape{"", 2, quick ? 64 : 512, quick ? 32 : 64};
    Problem problem =
        make_problem(ops::OperatorKind::local, shape, {.causal = true, .window = quick ? 16 : 96});
    problem.in.u = problem.in.r = at::Tensor();
    problem.in.k = problem.in.k * one.keys;
    problem.in.w = at::randn({shape.length, shape.length}) * one.bias;
    one.shape(problem.in);
    return problem;
}

double l2_error(const Tensors& found, const Tensors& wanted) {
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double distance = (found[i].to(at::kDouble) - wanted[i]).norm().item<double>();
        if (std::isnan(distance)) return distance;
        worst = std::max(worst, distance / wanted[i].norm().item<double>());
    }
    return worst;
}

const Contestant& named(const std::vector<Contestant>& all, const std::string& name) {
    for (const Contestant& one : all)
        if (one.name == name) return one;
    fail("bench: '{}' has no gradients to check", name);
}

double forward_error(const at::Tensor& found, const at::Tensor& wanted, const Problem& problem) {
    const double away = (found.to(at::kDouble) - wanted).abs().max().item<double>();
    return away / problem.in.v.abs().max().item<double>();
}

// Operands in bfloat16, where no gradient is wanted. Q, K, V stay in float32: stored in bfloat16 a
// key of 100 would be off by a quarter before anything is computed.
json bf16_errors(const Problem& problem, const at::Tensor& wanted) {
    ops::Options options = problem.options;
    options.bf16_operands = true;
    const c10::NoGradGuard off;
    const at::Tensor found = ops::apply(problem.kind, problem.in, options);
    return {{"name", "afterimage, operands in bf16"},
            {"precision", "bf16"},
            {"ours", true},
            {"error", number(forward_error(found, wanted, problem))}};
}

json errors_of(const Problem& problem) {
    const Problem back = backward_of(problem);
    const Tensors y = exact(problem), gradients = exact(back);
    const std::vector<Contestant> backward = contestants(back);
    json all = json::array();
    for (const Contestant& forward : contestants(problem)) {
        if (forward.exact) continue;  // another function
        if (forward.ours && forward.precision == "bf16") {
            all.push_back(bf16_errors(problem, y[0]));
            continue;
        }
        const Tensors found = named(backward, forward.name).run();
        all.push_back({{"name", forward.name},
                       {"precision", forward.precision},
                       {"ours", forward.ours},
                       {"error", number(forward_error(forward.run()[0], y[0], problem))},
                       {"gradient_error", number(l2_error(found, gradients))}});
    }
    return all;
}

bool within_bound(const json& error, double bound) {  // NaN is a word
    return error.is_number() && error <= bound;
}

json verdicts(const json& errors) {
    json all = json::array();
    for (const json& one : errors) {
        if (!one["ours"]) continue;
        const bool is_bf16 = one["precision"] == "bf16";
        const bool met =
            is_bf16 ? within_bound(one["error"], 1e-2)
                    : within_bound(one["error"], 1e-5) && within_bound(one["gradient_error"], 2e-5);
        all.push_back(
            verdict(is_bf16 ? "bf16 forward 1e-2" : "forward 1e-5, gradients 2e-5", met, true));
    }
    return all;
}

json row_of(const AccuracyCase& one, const BenchSettings& settings, const JobControl& control) {
    if (control.stop.stop_requested()) throw Interrupted();
    const json errors = errors_of(problem_of(one, settings.quick));
    return {{"kind", "accuracy"}, {"contestants", errors}, {"accept", verdicts(errors)}};
}

std::vector<RowPlan> rows(bool) {
    std::vector<RowPlan> plans;
    for (const AccuracyCase& one : cases())
        plans.push_back({one.name, [one](const BenchSettings& settings, const JobControl& control) {
                             return row_of(one, settings, control);
                         }});
    return plans;
}

}  // namespace

WorkloadRoom accuracy_workload() {
    return {.info = {"accuracy", "aft-local on six extreme cases: errors of ours and of the peers"},
            .rows = rows};
}

}  // namespace aft::bench
