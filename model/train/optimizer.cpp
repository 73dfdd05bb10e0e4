#include "model/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.h"

namespace aft {
namespace {

// Sum of squares in double. The order of the sum depends on the sizes alone, never on the number of
// threads, so that clipping repeats bit for bit.
double sum_of_squares(const at::Tensor& tensor) {
    if (!tensor.defined()) return 0;
    if (!tensor.is_cpu()) {
        const at::Tensor wide = tensor.to(at::kDouble);
        return wide.mul(wide).sum().item<double>();
    }
    const at::Tensor flat = tensor.contiguous();
    const float* values = flat.const_data_ptr<float>();
    const int64_t n = flat.numel();
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
        const double value = values[i];
        sum += value * value;
    }
    return sum;
}

// Parameters that share a learning rate and a decay: one fused pass over all of them.
struct UpdateGroup {
    std::vector<at::Tensor> values{}, grads{}, exp_avgs{}, exp_avg_sqs{}, max_exp_avg_sqs{},
        steps{};
    double learning_rate = 0, weight_decay = 0;
};

enum UpdateKind { kDecayed, kPlain, kBias, kKinds };

UpdateKind kind_of(Group group) {
    if (group == Group::linear_weight) return kDecayed;
    return group == Group::position_bias ? kBias : kPlain;
}

}  // namespace

AdamW::AdamW(Parameters& parameters) : parameters_(parameters) {
    for (const Parameter& parameter : parameters_) {
        state_.exp_avg.push_back(at::zeros_like(parameter.value));
        state_.exp_avg_sq.push_back(at::zeros_like(parameter.value));
    }
}

std::vector<double> AdamW::squared_norms() const {
    std::vector<double> squares;
    for (const Parameter& parameter : parameters_)
        squares.push_back(sum_of_squares(parameter.value.grad()));
    return squares;
}

double AdamW::update(const TrainConfig& config, double learning_rate) {
    double squares = 0;
    for (const double square : squared_norms()) squares += square;
    const double norm = std::sqrt(squares);
    update_clipped(config, learning_rate, norm);
    return norm;
}

void AdamW::update_clipped(const TrainConfig& config, double learning_rate, double norm) {
    AFT_ASSERT(std::isfinite(norm));
    const c10::NoGradGuard no_grad;
    state_.steps += 1;
    const double scale = config.clip > 0 && norm > config.clip ? config.clip / norm : 1;
    UpdateGroup groups[kKinds];
    groups[kDecayed] = {.learning_rate = learning_rate, .weight_decay = config.weight_decay};
    groups[kPlain] = {.learning_rate = learning_rate};
    groups[kBias] = {.learning_rate = learning_rate * config.bias_learning_rate_scale,
                     .weight_decay = config.bias_weight_decay};
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const Parameter& parameter = parameters_[i];
        const at::Tensor grad = parameter.value.grad();
        if (!grad.defined()) continue;
        UpdateGroup& group = groups[kind_of(parameter.group)];
        group.values.push_back(parameter.value);
        group.grads.push_back(grad);
        group.exp_avgs.push_back(state_.exp_avg[i]);
        group.exp_avg_sqs.push_back(state_.exp_avg_sq[i]);
        group.steps.push_back(at::full({}, static_cast<double>(state_.steps),
                                       parameter.value.options().requires_grad(false)));
    }
    for (UpdateGroup& group : groups) {
        if (group.values.empty()) continue;
        if (scale != 1) at::_foreach_mul_(group.grads, scale);
        at::_fused_adamw_(group.values, group.grads, group.exp_avgs, group.exp_avg_sqs,
                          group.max_exp_avg_sqs, group.steps, group.learning_rate, config.beta1,
                          config.beta2, group.weight_decay, config.eps, /*amsgrad=*/false,
                          /*maximize=*/false);
    }
}

void AdamW::zero_grad() {
    for (Parameter& parameter : parameters_) parameter.value.mutable_grad().reset();
}

double scheduled_rate(const TrainConfig& config, int64_t step) {
    const double at = static_cast<double>(step + 1);  // the first step is not wasted at rate 0
    const double warmup = static_cast<double>(std::max<int64_t>(config.warmup, 0));
    if (config.schedule == "inverse-sqrt") {
        if (warmup == 0) return config.learning_rate / std::sqrt(at);
        return config.learning_rate * std::min(at / warmup, std::sqrt(warmup / at));
    }
    const double ramp = warmup > 0 ? std::min(1.0, at / warmup) : 1.0;
    if (config.schedule == "constant" || ramp < 1) return config.learning_rate * ramp;
    AFT_ASSERT(config.schedule == "cosine");
    constexpr double kLast = 0.02;
    const double length =
        static_cast<double>(config.schedule_steps > 0 ? config.schedule_steps : config.steps);
    const double part = std::clamp((at - warmup) / std::max(1.0, length - warmup), 0.0, 1.0);
    const double fall = 0.5 * (1 + std::cos(std::numbers::pi * part));
    return config.learning_rate * (kLast + (1 - kLast) * fall);
}

}  // namespace aft
