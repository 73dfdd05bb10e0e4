// Mutations of AdamW: moments, bias correction, decay, groups, clipping.
#include <ATen/ATen.h>

#include <cmath>
#include <functional>
#include <memory>

#include "model/train/optimizer.h"
#include "tests/model/test_device.h"
#include "tests/mutants.h"

namespace aft {
namespace {

struct AdamMistakes {
    bool no_correction = false, first_corrected_only = false, decay_in_gradient = false;
    bool decays_biases = false, decays_embeddings = false, decay_without_rate = false;
    bool eps_inside_root = false, clips_each = false, never_clips = false, swapped_betas = false;
    bool no_bias_rate = false, no_bias_decay = false, forgets_moments = false;
};

// One parameter of one value. AdamW as defined by Loshchilov and Hutter 2019, Algorithm 2.
struct Scalar {
    ParameterGroup group = ParameterGroup::linear_weight;
    double value = 1, m = 0, v = 0;
};

class Definition {
  public:
    explicit Definition(AdamMistakes wrong) : wrong_(wrong) {}
    void step(std::vector<Scalar>& scalars, const std::vector<double>& grads,
              const TrainConfig& config, double rate) {
        ++t_;
        double square = 0;
        for (const double g : grads) square += g * g;
        for (size_t i = 0; i < scalars.size(); ++i) {
            const double norm = wrong_.clips_each ? std::abs(grads[i]) : std::sqrt(square);
            const bool clips = !wrong_.never_clips && norm > config.clip;
            update(scalars[i], clips ? grads[i] * config.clip / norm : grads[i], config, rate);
        }
    }

  private:
    [[nodiscard]] double decay_of(ParameterGroup group, const TrainConfig& config) const {
        if (group == ParameterGroup::position_bias)
            return wrong_.no_bias_decay ? 0 : config.bias_weight_decay;
        const bool decays = group == ParameterGroup::linear_weight ||
                            (group == ParameterGroup::bias && wrong_.decays_biases) ||
                            (group == ParameterGroup::embedding && wrong_.decays_embeddings);
        return decays ? config.weight_decay : 0;
    }
    void update(Scalar& s, double grad, const TrainConfig& config, double rate) const {
        double b1 = config.beta1, b2 = config.beta2;
        if (wrong_.swapped_betas) std::swap(b1, b2);
        if (s.group == ParameterGroup::position_bias && !wrong_.no_bias_rate)
            rate *= config.bias_learning_rate_scale;
        const double decay = decay_of(s.group, config);
        if (wrong_.decay_in_gradient)
            grad += decay * s.value;
        else
            s.value -= (wrong_.decay_without_rate ? 1 : rate) * decay * s.value;
        if (wrong_.forgets_moments) s.m = s.v = 0;
        s.m = b1 * s.m + (1 - b1) * grad;
        s.v = b2 * s.v + (1 - b2) * grad * grad;
        const double m = wrong_.no_correction ? s.m : s.m / (1 - std::pow(b1, t_));
        const bool corrects = !wrong_.no_correction && !wrong_.first_corrected_only;
        const double v = corrects ? s.v / (1 - std::pow(b2, t_)) : s.v;
        const double root =
            wrong_.eps_inside_root ? std::sqrt(v + config.eps) : std::sqrt(v) + config.eps;
        s.value -= rate * m / root;
    }

    AdamMistakes wrong_;
    int t_ = 0;
};

constexpr ParameterGroup kGroups[] = {ParameterGroup::linear_weight, ParameterGroup::bias,
                                      ParameterGroup::norm, ParameterGroup::embedding,
                                      ParameterGroup::position_bias};

// The values of all groups after each of some steps.
using Optimizer =
    std::function<std::vector<double>(const std::vector<std::vector<double>>&, const TrainConfig&)>;

Optimizer defined(const AdamMistakes& wrong) {
    return [wrong](const auto& grads, const TrainConfig& config) {
        std::vector<Scalar> scalars;
        for (const ParameterGroup group : kGroups) scalars.push_back({group});
        Definition definition(wrong);
        std::vector<double> values;
        for (const auto& step : grads) {
            definition.step(scalars, step, config, 0.02);
            for (const Scalar& s : scalars) values.push_back(s.value);
        }
        return values;
    };
}

std::vector<double> real_values(const std::vector<std::vector<double>>& grads,
                                const TrainConfig& config) {
    Parameters parameters;
    for (const ParameterGroup group : kGroups) {
        parameters.emplace_back();
        parameters.back().value = on_device(at::ones({1})).set_requires_grad(true);
        parameters.back().group = group;
    }
    AdamW optimizer(parameters);
    std::vector<double> values;
    for (const auto& step : grads) {
        for (size_t i = 0; i < parameters.size(); ++i)
            parameters[i].value.mutable_grad() = on_device(at::full({1}, step[i], at::kFloat));
        double square = 0;
        for (const double s : optimizer.squared_norms()) square += s;
        optimizer.update_clipped(config, 0.02, std::sqrt(square));
        for (const Parameter& p : parameters) values.push_back(p.value.item<double>());
    }
    return values;
}

std::string what_is_wrong_with(const Optimizer& optimizer) {
    TrainConfig config;
    config.clip = 1;
    config.eps = 0.01;  // an update depends on the gradient's size
    config.weight_decay = 0.1;
    config.bias_weight_decay = 0.3;
    config.bias_learning_rate_scale = 3;
    const std::vector<std::vector<double>> grads{
        {0.5, -0.1, 0.3, 0.2, -0.4}, {-0.25, 0.3, 2, 0.1, 3}, {2, 0, -1, 0.5, 0.25}};
    const std::vector<double> expected = defined({})(grads, config);
    const std::vector<double> found = optimizer(grads, config);
    for (size_t i = 0; i < expected.size(); ++i)
        if (std::abs(found[i] - expected[i]) > 2e-6) return "a value is not the definition's";
    return "";
}

TEST(Mutants, OptimizerMistakesAreNoticed) {
    const auto with = [](const std::string& name, const AdamMistakes& wrong) {
        return Mutant<Optimizer>{name, defined(wrong)};
    };
    expect_noticed(what_is_wrong_with, Optimizer(real_values),
                   {with("no bias correction", {.no_correction = true}),
                    with("only the first moment corrected", {.first_corrected_only = true}),
                    with("decay in the gradient, as Adam", {.decay_in_gradient = true}),
                    with("weight decay on biases", {.decays_biases = true}),
                    with("weight decay on embeddings", {.decays_embeddings = true}),
                    with("decay without the learning rate", {.decay_without_rate = true}),
                    with("eps below the root", {.eps_inside_root = true}),
                    with("clips each parameter by its own norm", {.clips_each = true}),
                    with("never clips", {.never_clips = true}),
                    with("betas change places", {.swapped_betas = true}),
                    with("position biases without their rate", {.no_bias_rate = true}),
                    with("position biases without their decay", {.no_bias_decay = true}),
                    with("moments begin anew at each step", {.forgets_moments = true})});
}

}  // namespace
}  // namespace aft
