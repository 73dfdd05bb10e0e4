// The six extreme cases: keys up to +-100 and biases up to +-50, where the usual forms overflow.
// Forward error relative to max|V|, gradients by relative L2 norm, against float64.
#include <ATen/ATen.h>

#include <cmath>

#include "bench/peer.h"
#include "bench/rounds.h"

namespace aft::bench {
namespace {

using nlohmann::json;

struct Case {
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

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"K ~ N, w ~ 0.1 N", 1, 0.1, [](ops::Inputs&) {}},
        {"K ~ 3N, w ~ 2N", 3, 2, [](ops::Inputs&) {}},
        {"K in +-100, w in +-50", 1, 1,
         [](ops::Inputs& in) { in.k = within(in.k, 100), in.w = within(in.w, 50); }},
        {"K saw-tooth of +-100", 1, 1, saw_tooth},
        {"spikes K = 100 under w = -50", 1, 1, [](ops::Inputs& in) { spikes(in, 100); }},
        {"w = -50 hides spikes K = 30", 1, 1, [](ops::Inputs& in) { spikes(in, 30); }}};
    return all;
}

Problem problem_of(const Case& one, bool quick) {
    const Shape shape{"", 2, quick ? 64 : 512, quick ? 32 : 64};
    Problem problem =
        make_problem(ops::Kind::local, shape, {.causal = true, .window = quick ? 16 : 96});
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

json errors_of(const Problem& problem) {
    const Problem back = backward_of(problem);
    const Tensors y = exact(problem), gradients = exact(back);
    const double largest = problem.in.v.abs().max().item<double>();
    const std::vector<Contestant> forward = contestants(problem), backward = contestants(back);
    json all = json::array();
    for (std::size_t i = 0; i < forward.size(); ++i) {
        if (forward[i].exact) continue;  // another function
        const at::Tensor away = (forward[i].run()[0].to(at::kDouble) - y[0]).abs().max();
        all.push_back({{"name", forward[i].name},
                       {"precision", forward[i].precision},
                       {"ours", forward[i].ours},
                       {"error", number(away.item<double>() / largest)},
                       {"gradient_error", number(l2_error(backward[i].run(), gradients))}});
    }
    return all;
}

json rows(const Settings& settings, const JobControl& control) {
    json all = json::array();
    for (const Case& one : cases()) {
        if (control.stop.stop_requested()) throw Interrupted();
        const json errors = errors_of(problem_of(one, settings.quick));
        const json& found = errors[0];
        const bool met = found["error"].is_number() && found["error"] <= 1e-5 &&
                         found["gradient_error"].is_number() && found["gradient_error"] <= 2e-5;
        all.push_back({{"kind", "accuracy"},
                       {"case", one.name},
                       {"contestants", errors},
                       {"accept", {verdict("forward 1e-5, gradients 2e-5", met, true)}}});
    }
    return all;
}

}  // namespace

WorkloadRoom accuracy_workload() {
    return {.info = {"accuracy", "aft-local on six extreme cases: errors of ours and of the peers"},
            .rows = rows};
}

}  // namespace aft::bench
