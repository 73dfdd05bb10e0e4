// The first step of a net against the same net in float64.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/workloads/einsum_mixer.h"
#include "bench/workloads/training.h"
#include "core/check.h"
#include "model/train/trainer.h"

namespace aft::bench {
namespace {

struct ExpectedStep {
    double loss = 0;
    std::map<std::string, at::Tensor> gradients;
};

// A gradient this much smaller than the largest of its kind is held against that: the one of a
// parameter that the loss does not see is truly zero, what is found there is rounding.
constexpr double kFloor = 0.01;

Batch first_batch(const Trainer& trainer) {
    const Config& config = trainer.config();
    Loader loader(trainer.source(), {config.model, config.data, config.train.batch,
                                     static_cast<uint64_t>(config.train.seed)});
    Batch batch = loader.next(0);
    if (batch.input.is_floating_point()) batch.input = batch.input.to(at::kDouble);
    return batch;
}

ExpectedStep in_double(const Trainer& trainer, const ModelConfig& truth) {
    const Config& config = trainer.config();
    Net wide(truth, 1);
    copy_values(trainer.net().parameters(), wide.parameters());
    for (Parameter& one : wide.parameters()) one.value.set_data(one.value.detach().to(at::kDouble));
    const Batch batch = first_batch(trainer);
    const TaskResult result = task_of(truth).evaluate(
        wide, batch, {.backend = ops::OperatorBackend::reference}, config.train.own);
    result.loss.backward();
    ExpectedStep wanted{.loss = result.loss.item<double>(), .gradients = {}};
    for (const Parameter& one : wide.parameters())
        if (one.value.grad().defined()) wanted.gradients[one.name] = one.value.grad();
    return wanted;
}

double size_of(const at::Tensor& x) {  // root mean square
    return x.norm().item<double>() / std::sqrt(static_cast<double>(x.numel()));
}

double worst_gradient(const Checkpoint& after, const ExpectedStep& wanted, double beta1) {
    const c10::NoGradGuard off;
    double largest = 0, worst = 0;
    for (const auto& [name, gradient] : wanted.gradients)
        largest = std::max(largest, size_of(gradient));
    for (const auto& [name, average] : after.optimizer) {
        const std::string_view prefix = "optim.exp_avg.";
        if (!name.starts_with(prefix)) continue;
        const at::Tensor& gradient = wanted.gradients.at(name.substr(prefix.size()));
        const at::Tensor found = average.to(at::kDouble) / (1 - beta1);
        const double away = size_of(found - gradient);
        if (std::isnan(away)) return away;
        worst = std::max(worst, away / std::max(size_of(gradient), kFloor * largest));
    }
    return worst;
}

}  // namespace

ModelConfig truth_of(const ModelConfig& model) {
    ModelConfig truth = model;
    if (truth.mixer == kEinsumMixer) truth.mixer = "aft-local";
    return truth;
}

StepErrors first_step_errors(const Config& config, const ModelConfig& truth) {
    Config plain = config;
    plain.train.clip = 0;  // the averages then hold the gradients as they are
    plain.train.validate_every = 0;
    plain.train.stochastic_depth = 0;  // the other net draws nothing
    Trainer trainer(plain, at::kCPU);
    ModelConfig fitted = trainer.config().model;
    fitted.mixer = truth.mixer;
    fitted.own = truth.own;
    const ExpectedStep wanted = in_double(trainer, fitted);
    const StepReport report = trainer.step();
    if (!report.failure.empty()) fail("bench: {}", report.failure);
    const double loss = report.values.at("loss");
    return {.loss = loss,
            .error = std::abs(loss - wanted.loss) / std::abs(wanted.loss),
            .gradients = worst_gradient(trainer.checkpoint(true), wanted, config.train.beta1)};
}

}  // namespace aft::bench
