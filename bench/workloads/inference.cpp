// A race of classifiers without gradients: the same pictures through whole nets. Logits are checked
// against the same net in float64 first.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>

#include "bench/timing/rounds.h"
#include "bench/workloads/training.h"
#include "model/net/net.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct InferenceRunner {
    TrainForm form;
    std::unique_ptr<Net> net;
    at::Tensor pictures;  // [B, C, H, W]
    double error = 0;
};

double time_pass(const InferenceRunner& runner) {
    const auto begin = steady_clock::now();
    const at::Tensor kept = runner.net->forward(runner.pictures, {});
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    return time.count();
}

double error_in(const InferenceRunner& runner) {
    Net wide(runner.net->config(), 1);
    copy_values(runner.net->parameters(), wide.parameters());
    for (Parameter& one : wide.parameters()) one.value.set_data(one.value.detach().to(at::kDouble));
    const at::Tensor wanted =
        wide.forward(runner.pictures.to(at::kDouble), {.backend = ops::OperatorBackend::reference});
    return error_of({runner.net->forward(runner.pictures, {})}, {wanted});
}

InferenceRunner prepared(const TrainForm& form) {
    const ModelConfig& model = form.config.model;
    InferenceRunner runner{form, std::make_unique<Net>(model, 1), {}};
    at::manual_seed(1);
    runner.pictures =
        at::randn({form.config.train.batch, model.channels, model.height, model.width});
    runner.error = error_in(runner);
    return runner;
}

json described(const InferenceRunner& runner) {
    return {{"name", runner.form.name},
            {"group", runner.form.group},
            {"precision", "fp32"},
            {"ours", runner.form.group == "ours"},
            {"parameters", parameter_count(runner.net->parameters())},
            {"error", number(runner.error)}};
}

}  // namespace

json infer_race(const TrainCase& one, const BenchSettings& settings, const JobControl& control) {
    const c10::NoGradGuard off;
    std::vector<InferenceRunner> runners;
    for (const TrainForm& form : one.forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        runners.push_back(prepared(form));
    }
    std::vector<Turn> turns;
    for (const InferenceRunner& runner : runners)
        turns.push_back({.round = [&runner] { return time_pass(runner); },
                         .ours = runner.form.group == "ours"});
    std::vector<json> about;
    for (const InferenceRunner& runner : runners) about.push_back(described(runner));
    return race_nets({"infer", one, turns, about}, settings, control);
}

}  // namespace aft::bench
