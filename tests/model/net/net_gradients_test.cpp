#include <gtest/gtest.h>

#include "model/mixers/settings.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

at::Tensor loss_of(const Net& net, const at::Tensor& input, const Pass& pass) {
    const at::Tensor logits = net.forward(input, pass);
    if (net.config().task == "classify") return logits.square().sum();
    return at::cross_entropy_loss(logits.flatten(0, 1), input.flatten());
}

void clear(Net& net) {
    for (Parameter& p : net.parameters()) p.value.mutable_grad() = at::Tensor();
}

// Central differences at a few places of every parameter, in float64.
TEST(NetGradients, AgreeWithFiniteDifferences) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        ModelConfig config = c.config;
        config.layers = 1;
        Net net(config, 3, test_device());
        to_double(net);
        shake(net, 0.2, 5);
        at::Tensor input = on_device(input_for(config, 2, 7));
        if (config.task == "classify") input = input.to(at::kDouble);
        const Pass pass{.backend = ops::OperatorBackend::reference};
        loss_of(net, input, pass).backward();
        const at::NoGradGuard no_gradients;
        for (Parameter& p : net.parameters()) {
            ASSERT_EQ(p.value.grad().defined(), p.group != ParameterGroup::fixed) << p.name;
            if (p.group == ParameterGroup::fixed) continue;
            const at::Tensor flat = p.value.view(-1), grad = p.value.grad().reshape(-1);
            const double scale = std::max(largest(grad), 1e-3);
            for (const int64_t at : {flat.numel() / 3, flat.numel() - 1}) {
                constexpr double kStep = 1e-5;
                const double start = flat[at].item<double>();
                flat[at].fill_(start + kStep);
                const double up = loss_of(net, input, pass).item<double>();
                flat[at].fill_(start - kStep);
                const double down = loss_of(net, input, pass).item<double>();
                flat[at].fill_(start);
                EXPECT_NEAR((up - down) / (2 * kStep), grad[at].item<double>(), 2e-6 * scale)
                    << p.name << " at " << at;
            }
        }
    }
}

TEST(NetGradients, FirstStepReachesEveryParameter) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        Net net(c.config, 3, test_device());
        const at::Tensor input = on_device(input_for(c.config, 4, 7));
        loss_of(net, input, {}).backward();
        for (const Parameter& p : net.parameters()) {
            // Adding a constant to K, or to a kernel that covers the whole past, changes nothing;
            // kernels wait until gamma has left 0.
            if (p.group == ParameterGroup::fixed) continue;
            const MixerTraits traits = mixer_traits(c.config);
            const bool covers = traits.window >= c.config.tokens() || traits.outside_hidden;
            const bool free =
                p.name.ends_with("mixer.k.bias") || (covers && p.name.ends_with("mixer.beta"));
            const bool waits =
                p.name.ends_with(".kernel") && !c.config.own.read<KernelSettings>().naive_kernel;
            if (free || waits) continue;
            EXPECT_GT(largest(p.value.grad()), 1e-7) << p.name;
        }
    }
}

TEST(NetGradients, RecomputeAndDropoutRepeat) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        ModelConfig config = c.config;
        config.dropout = 0.3;
        Net net(config, 3, test_device());
        shake(net, 0.1, 5);
        const at::Tensor input = on_device(input_for(config, 2, 7));
        std::vector<at::Tensor> kept(net.parameters().size());
        for (const bool recompute : {false, true}) {
            clear(net);
            at::Generator generator = at::globalContext().defaultGenerator(test_device()).clone();
            generator.set_current_seed(11);
            const Pass pass{.training = true, .recompute = recompute, .dropout = generator};
            loss_of(net, input, pass).backward();
            for (size_t i = 0; i < net.parameters().size(); ++i) {
                if (net.parameters()[i].group == ParameterGroup::fixed) continue;
                const at::Tensor& grad = net.parameters()[i].value.grad();
                if (!recompute) {
                    kept[i] = grad.clone();
                } else {
                    EXPECT_TRUE(at::equal(kept[i], grad)) << net.parameters()[i].name;
                }
            }
        }
    }
}

// A tap needs q, k, v and Y, so that the nodes which make them again are not used.
TEST(NetGradients, WhatIsMadeAgainIsWhatWasKept) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        Net net(c.config, 3, test_device());
        shake(net, 0.1, 5);
        const at::Tensor input = on_device(input_for(c.config, 2, 7));
        const Tap tap = [](const std::string&, const at::Tensor&) {};
        std::vector<at::Tensor> kept;
        std::vector<double> losses;
        for (const Tap* one : {&tap, static_cast<const Tap*>(nullptr)}) {
            clear(net);
            const at::Tensor loss = loss_of(net, input, {.training = true, .tap = one});
            loss.backward();
            losses.push_back(loss.item<double>());
            for (size_t i = 0; i < net.parameters().size(); ++i) {
                const Parameter& p = net.parameters()[i];
                if (p.group == ParameterGroup::fixed) continue;
                if (one != nullptr) {
                    kept.resize(i + 1);
                    kept[i] = p.value.grad().clone();
                } else if (p.name.ends_with("mixer.o.weight")) {  // of Y, rounded once more
                    EXPECT_LE(difference(kept[i], p.value.grad()), 1e-6 * largest(kept[i]))
                        << p.name;
                } else {
                    EXPECT_TRUE(at::equal(kept[i], p.value.grad())) << p.name;
                }
            }
        }
        EXPECT_EQ(losses[0], losses[1]);
    }
}

TEST(NetGradients, DropoutIsOffOutsideTraining) {
    ModelConfig config = small_config("aft-full", "image");
    config.dropout = 0.5;
    const Net net(config, 3, test_device());
    const at::Tensor input = on_device(input_for(config, 2, 7));
    const at::NoGradGuard no_gradients;
    EXPECT_TRUE(at::equal(net.forward(input, {}), net.forward(input, {})));
    EXPECT_FALSE(at::equal(net.forward(input, {}), net.forward(input, {.training = true})));
    EXPECT_TRUE(at::equal(net.forward(input, {}),
                          net.forward(input, {.training = true, .dropout_rate = 0})));
}

}  // namespace
}  // namespace aft
