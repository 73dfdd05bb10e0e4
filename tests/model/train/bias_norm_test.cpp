// ||w|| from the factors against ||w|| of the whole w.
#include "model/train/bias_norm.h"

#include <gtest/gtest.h>

#include "tests/model/net/double_net.h"

namespace aft {
namespace {

void expect_norm(const ModelConfig& config) {
    Net net(config, 3, test_device());
    shake(net, 0.5, 5);
    const int64_t T = config.tokens();
    const Net exact = double_net(net);
    const std::optional<at::Tensor> w = exact.mixer(0).bias(T);
    const std::optional<double> found = squared_bias(net.mixer(0), T);
    ASSERT_EQ(found.has_value(), w.has_value());
    if (!w) return;
    // u r^T adds up 3 products: 2 gamma_3 of |u| |r|^T and a rounding of each square, 7 u. The rest
    // of 2e-6 = 33 u is for kernels, whose mean and spread add up to 40 taps.
    const StoredBias in = exact.mixer(0).stored_bias(T);
    const at::Tensor size = in.u.defined() ? at::matmul(in.u.abs(), in.r.abs().t()) : w->abs();
    EXPECT_NEAR(*found, w->square().sum().item<double>(),
                2e-6 * (w->abs() * size).sum().item<double>());
}

TEST(BiasNorm, IsThatOfTheWholeBias) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        expect_norm(c.config);
    }
}

// Around the sizes of its blocks: windows that no block, some and all blocks fit into.
TEST(BiasNorm, OfEveryWindow) {
    for (const int64_t length : {1, 63, 64, 65, 200, 333})
        for (const int64_t window : {1, 2, 63, 64, 65, 127, 128, 129, 200, 500}) {
            SCOPED_TRACE(std::to_string(length) + " tokens, window " + std::to_string(window));
            ModelConfig config = small_config("aft-local", "text");
            config.layers = 1;
            config.own["length"] = length;
            config.own["window"] = window;
            expect_norm(config);
            config.mixer = "aft-full";
            expect_norm(config);
        }
}

// Rows at right angles: large factors, and a bias that is zero but for rounding.
TEST(BiasNorm, IsNeverNegative) {
    ModelConfig config = small_config("aft-full", "text");
    config.layers = 1;
    config.own["length"] = 50;
    config.own["factors"] = 2;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        Net net(config, seed, test_device());
        const StoredBias in = net.mixer(0).stored_bias(config.tokens());
        ASSERT_TRUE(in.u.defined());
        const c10::NoGradGuard off;
        const float slope = 0.1F + 0.37F * static_cast<float>(seed);
        in.u.mul_(100);
        in.r.mul_(100);
        in.u.select(1, 1).copy_(in.u.select(1, 0) * slope);
        in.r.select(1, 0).copy_(in.r.select(1, 1) * -slope);
        const double found = squared_bias(net.mixer(0), config.tokens()).value_or(NAN);
        EXPECT_GE(found, 0) << seed;
        EXPECT_LE(found,
                  1e-9 * in.u.square().sum().item<double>() * in.r.square().sum().item<double>())
            << seed;
    }
}

}  // namespace
}  // namespace aft
