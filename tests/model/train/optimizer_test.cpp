// AdamW against a step worked out by hand, its groups, clipping and the schedules.
#include "model/train/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/check.h"
#include "tests/model/test_device.h"

namespace aft {
namespace {

Parameter parameter(const std::string& name, const at::Tensor& value, ParameterGroup group) {
    Parameter p;
    p.name = name;
    p.value = on_device(value).clone().set_requires_grad(true);
    p.group = group;
    return p;
}

void give_grad(Parameter& p, const at::Tensor& grad) {
    p.value.mutable_grad() = on_device(grad).clone();
}

TrainConfig plain() {
    TrainConfig config;
    config.clip = 0;
    config.weight_decay = 0;
    config.bias_learning_rate_scale = 1;
    return config;
}

// Loshchilov and Hutter 2019, Algorithm 2, in double.
struct ByHand {
    double value, m = 0, v = 0;
    int t = 0;
    void step(double grad, double rate, double decay, const TrainConfig& c) {
        ++t;
        value -= rate * decay * value;
        m = c.beta1 * m + (1 - c.beta1) * grad;
        v = c.beta2 * v + (1 - c.beta2) * grad * grad;
        const double m_hat = m / (1 - std::pow(c.beta1, t)), v_hat = v / (1 - std::pow(c.beta2, t));
        value -= rate * m_hat / (std::sqrt(v_hat) + c.eps);
    }
};

// Both halves of a step. -> the global gradient norm before clipping.
double step(AdamW& optimizer, const TrainConfig& config, double learning_rate) {
    double squares = 0;
    for (const double square : optimizer.squared_norms()) squares += square;
    const double norm = std::sqrt(squares);
    optimizer.update_clipped(config, learning_rate, norm);
    return norm;
}

TEST(AdamW, ThreeStepsAsByHand) {
    TrainConfig config = plain();
    config.weight_decay = 0.1;
    Parameters parameters{parameter("w", at::tensor({1.0F, -2.0F}), ParameterGroup::linear_weight)};
    AdamW optimizer(parameters);
    ByHand a{1}, b{-2};
    const double grads[3][2] = {{0.5, -0.1}, {-0.25, 0.3}, {2.0, 0.0}};
    for (const auto& grad : grads) {
        give_grad(parameters[0],
                  at::tensor({static_cast<float>(grad[0]), static_cast<float>(grad[1])}));
        step(optimizer, config, 0.01);
        a.step(grad[0], 0.01, 0.1, config);
        b.step(grad[1], 0.01, 0.1, config);
    }
    EXPECT_NEAR(parameters[0].value[0].item<double>(), a.value, 1e-6);
    EXPECT_NEAR(parameters[0].value[1].item<double>(), b.value, 1e-6);
    EXPECT_EQ(optimizer.state().steps, 3);
}

// With a gradient of zero only the decay moves a value: by rate * decay of its group.
TEST(AdamW, DecayFallsOnItsGroupAlone) {
    TrainConfig config = plain();
    config.weight_decay = 0.5;
    const std::vector<std::pair<ParameterGroup, double>> expected{
        {ParameterGroup::linear_weight, 1 - 0.1 * 0.5},
        {ParameterGroup::bias, 1},
        {ParameterGroup::norm, 1},
        {ParameterGroup::embedding, 1},
        {ParameterGroup::position_bias, 1}};
    for (const auto& [group, value] : expected) {
        Parameters parameters{parameter("p", at::ones({3}), group)};
        AdamW optimizer(parameters);
        give_grad(parameters[0], at::zeros({3}));
        step(optimizer, config, 0.1);
        EXPECT_NEAR(parameters[0].value[1].item<double>(), value, 1e-6);
    }
}

TEST(AdamW, PositionBiasesHaveTheirOwnRateAndDecay) {
    TrainConfig config = plain();
    config.bias_learning_rate_scale = 10;
    config.bias_weight_decay = 0.5;
    Parameters parameters{parameter("u", at::ones({1}), ParameterGroup::position_bias),
                          parameter("q", at::ones({1}), ParameterGroup::linear_weight)};
    AdamW optimizer(parameters);
    for (Parameter& p : parameters) give_grad(p, at::ones({1}));
    step(optimizer, config, 0.01);
    ByHand u{1}, q{1};
    u.step(1, 0.1, 0.5, config);
    q.step(1, 0.01, 0, config);
    EXPECT_NEAR(parameters[0].value.item<double>(), u.value, 1e-6);
    EXPECT_NEAR(parameters[1].value.item<double>(), q.value, 1e-6);
}

TEST(AdamW, ClipsByTheGlobalNorm) {
    TrainConfig config = plain();
    config.clip = 1;
    config.eps = 1;  // makes the update depend on the gradient's size
    Parameters parameters{parameter("a", at::zeros({1}), ParameterGroup::linear_weight),
                          parameter("b", at::zeros({1}), ParameterGroup::bias)};
    AdamW optimizer(parameters);
    give_grad(parameters[0], at::full({1}, 3.0F));
    give_grad(parameters[1], at::full({1}, 4.0F));
    EXPECT_NEAR(step(optimizer, config, 1), 5, 1e-6);
    ByHand a{0}, b{0};
    a.step(3.0 / 5, 1, 0, config);
    b.step(4.0 / 5, 1, 0, config);
    EXPECT_NEAR(parameters[0].value.item<double>(), a.value, 1e-6);
    EXPECT_NEAR(parameters[1].value.item<double>(), b.value, 1e-6);
}

TEST(AdamW, ParametersWithoutAGradientStay) {
    Parameters parameters{parameter("a", at::ones({2}), ParameterGroup::linear_weight)};
    AdamW optimizer(parameters);
    EXPECT_EQ(step(optimizer, TrainConfig{}, 1), 0);
    EXPECT_TRUE(at::equal(parameters[0].value.cpu(), at::ones({2})));
    give_grad(parameters[0], at::ones({2}));
    optimizer.zero_grad();
    EXPECT_FALSE(parameters[0].value.grad().defined());
}

TEST(AdamW, TheNormOfALargeGradientIsExact) {
    Parameters parameters{parameter("a", at::zeros({1000}), ParameterGroup::linear_weight)};
    AdamW optimizer(parameters);
    give_grad(parameters[0], at::full({1000}, 1e30F));  // squares overflow float
    EXPECT_NEAR(std::sqrt(optimizer.squared_norms()[0]) / (1e30 * std::sqrt(1000.0)), 1, 1e-6);
}

TEST(Schedule, InverseSquareRoot) {
    TrainConfig config;
    config.schedule = "inverse-sqrt";
    config.learning_rate = 3e-3;
    config.warmup = 4000;
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 0), 3e-3 / 4000);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 1999), 3e-3 / 2);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 3999), 3e-3);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 15999), 3e-3 / 2);
}

TEST(Schedule, CosineFallsToTwoPercentAndStaysThere) {
    TrainConfig config;
    config.schedule = "cosine";
    config.learning_rate = 1;
    config.warmup = 10;
    config.steps = 110;
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 0), 0.1);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 9), 1);
    EXPECT_NEAR(scheduled_rate(config, 59), 0.51, 1e-12);
    EXPECT_NEAR(scheduled_rate(config, 109), 0.02, 1e-12);
    EXPECT_NEAR(scheduled_rate(config, 5000), 0.02, 1e-12);
    for (int64_t step = 9; step < 109; ++step)
        EXPECT_GT(scheduled_rate(config, step), scheduled_rate(config, step + 1));
}

TEST(Schedule, ItsLengthIsItsOwn) {
    TrainConfig config;
    config.schedule = "cosine";
    config.steps = 100;
    const double before = scheduled_rate(config, 60);
    config.schedule_steps = 100;
    config.steps = 7;
    EXPECT_EQ(scheduled_rate(config, 60), before);
}

TEST(Schedule, ConstantAfterAWarmUp) {
    TrainConfig config;
    config.schedule = "constant";
    config.learning_rate = 2;
    config.warmup = 4;
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 1), 1);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 3), 2);
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 100000), 2);
    config.warmup = 0;
    EXPECT_DOUBLE_EQ(scheduled_rate(config, 0), 2);
}

}  // namespace
}  // namespace aft
