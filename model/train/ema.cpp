#include "model/train/ema.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/check.h"
#include "model/checkpoints/checkpoint.h"

namespace aft {

WeightAverage::WeightAverage(Parameters& parameters) : parameters_(parameters) {
    for (const Parameter& parameter : parameters_)
        values_.push_back(parameter.value.detach().clone());
}

void WeightAverage::update(double decay, const std::function<bool(size_t)>& is_frozen) {
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < values_.size(); ++i) {
        if (is_frozen(i) && values_[i].equal(parameters_[i].value)) continue;
        values_[i].mul_(decay).add_(parameters_[i].value, 1 - decay);
    }
}

void WeightAverage::load(const std::vector<std::pair<std::string, at::Tensor>>& saved) {
    const auto has_prefix = [](const auto& entry) {
        return entry.first.starts_with(kAveragePrefix);
    };
    if (std::none_of(saved.begin(), saved.end(), has_prefix)) return;
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < values_.size(); ++i) {
        const std::string name = kAveragePrefix + parameters_[i].name;
        const auto found = std::find_if(saved.begin(), saved.end(),
                                        [&](const auto& entry) { return entry.first == name; });
        AFT_CHECK(found != saved.end(), "the checkpoint's moving average lacks '{}'", name);
        const at::Tensor& from = found->second;
        AFT_CHECK(
            from.sizes() == values_[i].sizes() && from.scalar_type() == values_[i].scalar_type(),
            "the checkpoint's '{}' is {} [{}], the net needs {} [{}]", name,
            c10::toString(from.scalar_type()), fmt::join(from.sizes(), ", "),
            c10::toString(values_[i].scalar_type()), fmt::join(values_[i].sizes(), ", "));
        values_[i].copy_(from);
    }
}

WeightAverage::InUse::InUse(WeightAverage& average) : parameters_(average.parameters_) {
    const c10::NoGradGuard no_grad;
    for (const Parameter& parameter : parameters_)
        weights_.push_back(parameter.value.detach().clone());
    for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].value.copy_(average.values_[i]);
}

WeightAverage::InUse::~InUse() {
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < weights_.size(); ++i) parameters_[i].value.copy_(weights_[i]);
}

}  // namespace aft
