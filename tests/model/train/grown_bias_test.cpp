// Biases far past what the quick scaling bears (long training takes them there): the default path
// must notice and agree with the definition, on a checkpoint read back from its file.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/train/trainer.h"
#include "tests/model/net/double_net.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

double largest_bias(const Net& net) {
    double largest = 0;
    for (int64_t layer = 0; layer < net.config().layers; ++layer) {
        const at::Tensor w = *net.mixer(layer).bias(net.config().tokens());
        largest = std::max(largest, w.abs().max().item<double>());
    }
    return largest;
}

// The logits of the default path are those of the definition in float64.
void expect_exact(const Net& net) {
    const c10::NoGradGuard no_grad;
    const ModelConfig& config = net.config();
    const at::Tensor tokens = at::randint(0, config.levels, {2, config.tokens()},
                                          at::detail::createCPUGenerator(7), at::kLong);
    const at::Tensor expected = exact_logits(net, tokens);
    // A mixer is promised within 1e-5 of max|V|; the maps of its block add up 900 products at most,
    // whose roundings of random sign come to sqrt(900) u = 2e-6.
    const double tolerance = 1.2e-5 * static_cast<double>(config.layers) * largest(expected);
    EXPECT_LT(difference(net.forward(on_device(tokens), {}), expected), tolerance);
}

// The rate of the biases is 10, a thousand times that of the weights: a few steps leave w of tens.
Config growing(const std::string& mixer) {
    Config config = tiny_config();
    config.model.mixer = mixer;
    config.model.own["factors"] = 0;
    config.model.own["window"] = mixer == "aft-local" ? 24 : 0;
    config.train.learning_rate = 0.01;
    config.train.bias_learning_rate_scale = 1000;
    config.train.bias_weight_decay = 0;
    config.train.steps = 5;
    return config;
}

class GrownBias : public testing::TestWithParam<std::string> {};

// Enlarged after a few steps: training until the bias is that large would amplify any rounding.
TEST_P(GrownBias, EnlargedPastAHundredStaysExact) {
    const Scratch folder;
    const fs::path file = folder.path() / "grown.safetensors";
    Trainer trainer(growing(GetParam()), test_device());
    while (trainer.steps_done() < 5) ASSERT_EQ(trainer.step().failure, "");
    Checkpoint grown = trainer.checkpoint(false);
    const double factor = 150 / largest_bias(trainer.net());
    for (auto& [name, value] : grown.weights)
        if (name.ends_with("mixer.w")) value = value * factor;
    write_checkpoint(file, grown);
    const Net net = make_net(read_checkpoint(file), test_device());
    EXPECT_NEAR(largest_bias(net), 150, 1e-3);
    expect_exact(net);
}

INSTANTIATE_TEST_SUITE_P(Mixers, GrownBias, testing::Values("aft-full", "aft-local"),
                         [](const auto& mixer) { return mixer.param.substr(4); });

TEST(GrownBiasShipped, TheShippedModelTenTimesEnlargedStaysExact) {
    Net net = make_net(read_checkpoint(shared_file("assets/demo/cifar10-small.safetensors")),
                       test_device());
    {
        const c10::NoGradGuard no_grad;
        for (Parameter& parameter : net.parameters())
            if (parameter.name.ends_with(".u")) parameter.value.mul_(10);
    }
    EXPECT_GT(largest_bias(net), 100);
    expect_exact(net);
}

}  // namespace
}  // namespace aft
