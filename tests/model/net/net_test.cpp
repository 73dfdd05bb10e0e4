#include "model/net/net.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>

#include "core/check.h"
#include "model/nn/embedding.h"
#include "tests/model/net/double_net.h"

namespace aft {
namespace {

constexpr auto kUsage = ErrorKind::usage;

template <class Work>
std::string usage_error(Work work) {
    try {
        work();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kUsage);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

TEST(Net, ShapesAndFiniteLogits) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        const Net net(c.config, 3, test_device());
        const at::Tensor logits = net.forward(on_device(input_for(c.config, 2, 7)), {});
        const std::vector<int64_t> expected =
            c.config.task == "classify"
                ? std::vector<int64_t>{2, c.config.outputs()}
                : std::vector<int64_t>{2, c.config.tokens(), c.config.levels};
        EXPECT_EQ(logits.sizes().vec(), expected);
        EXPECT_TRUE(at::isfinite(logits).all().item<bool>());
    }
}

TEST(Net, NothingLeaksFromTheFuture) {
    for (const NetCase& c : small_cases()) {
        if (!c.config.causal()) continue;
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        const at::Tensor input = on_device(decided_input(net, 1, 7));
        const at::Tensor logits = net.forward(input, {});
        // 2 mixers add up 32 sources in an order that other tokens may change: gamma_64 a pass.
        const double tolerance = 2 * 64 * 0x1p-24 * largest(logits);
        for (const int64_t p : {int64_t{0}, c.config.tokens() / 2, c.config.tokens() - 2}) {
            at::Tensor other = input.clone();
            other[0][p] = (other[0][p] + 1) % c.config.levels;
            const at::Tensor changed = net.forward(other, {});
            EXPECT_LT(difference(logits.narrow(1, 0, p + 1), changed.narrow(1, 0, p + 1)),
                      tolerance)
                << "sub-pixel " << p << " is seen by rows up to itself";
            EXPECT_GT(difference(logits[0][p + 1], changed[0][p + 1]), 1e-4)
                << "sub-pixel " << p << " is not seen by the next row";
        }
    }
}

TEST(Net, AutomaticBackendAgreesWithFloat64) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        const at::Tensor input = on_device(decided_input(net, 2, 7));
        const at::Tensor expected = exact_logits(net, input);
        EXPECT_LT(difference(net.forward(input, {}), expected), 1e-4 * largest(expected));
    }
}

TEST(Net, ShortSequencesUseTheCornerOfEveryTable) {
    for (const NetCase& c : small_cases()) {
        if (!c.config.causal()) continue;
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        const at::Tensor input = on_device(decided_input(net, 2, 7));
        const at::Tensor whole = exact_logits(net, input);
        for (const int64_t n : {1, 2, 11}) {
            const at::Tensor part = net.forward(input.narrow(1, 0, n), {});
            EXPECT_LT(difference(part, whole.narrow(1, 0, n)), kLogitError * largest(whole)) << n;
        }
    }
}

TEST(Net, ConvClassifiersTakeOtherPictureSizes) {
    ModelConfig config = small_config("aft-conv2d", "classify");
    config.own["patch"] = 2;
    const at::NoGradGuard no_gradients;
    Net net(config, 3, test_device());
    shake(net, 0.3, 5);
    for (const auto& [height, width] : {std::pair{6, 10}, std::pair{2, 2}, std::pair{4, 4}})
        EXPECT_EQ(net.forward(on_device(at::randn({3, 1, height, width})), {}).sizes(),
                  at::IntArrayRef({3, config.outputs()}));
    const std::string odd = usage_error(
        [&] { static_cast<void>(net.forward(on_device(at::randn({1, 1, 5, 4})), {})); });
    EXPECT_NE(odd.find("5 x 4"), std::string::npos) << odd;
    config.positions = "learned";
    const Net fixed(config, 3, test_device());
    usage_error([&] { static_cast<void>(fixed.forward(on_device(at::randn({1, 1, 6, 6})), {})); });
}

TEST(Net, InitialValuesDependOnSeedAndNameOnly) {
    const ModelConfig small = small_config("aft-full", "image");
    ModelConfig deep = small;
    deep.layers = 3;
    const Net a(small, 3), b(small, 3), c(small, 4), more(deep, 3);
    for (size_t i = 0; i < a.parameters().size(); ++i) {
        const Parameter& p = a.parameters()[i];
        EXPECT_TRUE(at::equal(p.value, b.parameters()[i].value)) << p.name;
        const bool random = at::std(p.value).item<double>() > 0;
        EXPECT_EQ(!random, at::equal(p.value, c.parameters()[i].value)) << p.name;
        const bool scaled_by_depth =
            p.name.ends_with(".o.weight") || p.name.ends_with("fc2.weight");
        for (const Parameter& other : more.parameters())
            if (other.name == p.name && !scaled_by_depth) {
                EXPECT_TRUE(at::equal(p.value, other.value)) << p.name;
            }
    }
}

TEST(Net, InitialSpreads) {
    ModelConfig config = small_config("aft-full", "text");
    config.dim = 96;
    config.own["length"] = 200;
    config.own["factors"] = 40;
    const auto spread = [](const Net& net, const std::string& name) {
        for (const Parameter& p : net.parameters())
            if (p.name == name) return at::std(p.value).item<double>();
        ADD_FAILURE() << name;
        return 0.0;
    };
    config.init = "normal";
    const Net normal(config, 3);
    for (const char* name : {"embed.token.weight", "embed.position.weight", "head.weight",
                             "blocks.0.mixer.q.weight", "blocks.1.mlp.fc2.weight"})
        EXPECT_NEAR(spread(normal, name), 0.02, 0.001) << name;
    EXPECT_NEAR(spread(normal, "blocks.0.mixer.u"), 0.1, 0.004);
    config.init = "fan-in";
    const Net fan(config, 3);
    EXPECT_NEAR(spread(fan, "blocks.0.mixer.q.weight"), 1 / std::sqrt(96.0), 0.005);
    EXPECT_NEAR(spread(fan, "blocks.0.mixer.o.weight"), 0.5 / std::sqrt(96.0), 0.003);
    EXPECT_NEAR(spread(fan, "blocks.0.mlp.fc2.weight"), 0.5 / std::sqrt(384.0), 0.002);
    EXPECT_NEAR(spread(fan, "embed.token.weight"), 0.02, 0.001);
}

TEST(Net, OrderedStartKnowsTheOrderOfValues) {
    ModelConfig config = small_config("aft-local", "image");
    config.init = "ordered";
    config.levels = 256;
    config.dim = 32;
    const Net net(config, 3);
    const at::Tensor& table = net.parameters().front().value;
    ASSERT_EQ(net.parameters().front().name, "embed.token.weight");
    const auto distance = [&](int64_t a, int64_t b) {
        return (table[a] - table[b]).norm().item<double>();
    };
    EXPECT_LT(distance(100, 101), distance(100, 104));
    EXPECT_LT(distance(100, 104), distance(100, 130));
    EXPECT_LE(largest(table), 0.5 + 1e-6);
    config.init = "ordered";
    config.task = "text";
    usage_error([&] { config.check(); });
}

TEST(Net, CanonicalNames) {
    ModelConfig config = small_config("aft-full", "image");
    config.layers = 1;
    const Net net(config, 1);
    std::vector<std::string> names;
    for (const Parameter& p : net.parameters()) names.push_back(p.name);
    const std::vector<std::string> expected{"embed.token.weight",
                                            "embed.start",
                                            "embed.position.weight",
                                            "blocks.0.norm1.weight",
                                            "blocks.0.norm1.bias",
                                            "blocks.0.mixer.q.weight",
                                            "blocks.0.mixer.q.bias",
                                            "blocks.0.mixer.k.weight",
                                            "blocks.0.mixer.k.bias",
                                            "blocks.0.mixer.v.weight",
                                            "blocks.0.mixer.v.bias",
                                            "blocks.0.mixer.o.weight",
                                            "blocks.0.mixer.o.bias",
                                            "blocks.0.mixer.u",
                                            "blocks.0.mixer.r",
                                            "blocks.0.norm2.weight",
                                            "blocks.0.norm2.bias",
                                            "blocks.0.mlp.fc1.weight",
                                            "blocks.0.mlp.fc1.bias",
                                            "blocks.0.mlp.fc2.weight",
                                            "blocks.0.mlp.fc2.bias",
                                            "norm.weight",
                                            "norm.bias",
                                            "head.weight",
                                            "head.bias"};
    EXPECT_EQ(names, expected);
    EXPECT_EQ(net.parameters()[13].group, ParameterGroup::position_bias);
    EXPECT_EQ(net.parameters()[13].layer, 0);
    EXPECT_EQ(net.parameters()[0].layer, -1);
}

TEST(Net, CopiedValuesGiveTheSameLogits) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device()), other(c.config, 9, test_device());
        shake(net, 0.3, 5);
        const at::Tensor input = on_device(input_for(c.config, 2, 7));
        EXPECT_FALSE(at::equal(net.forward(input, {}), other.forward(input, {})));
        copy_values(net.parameters(), other.parameters());
        EXPECT_TRUE(at::equal(net.forward(input, {}), other.forward(input, {})));
        for (size_t i = 0; i < net.parameters().size(); ++i)
            EXPECT_FALSE(net.parameters()[i].value.is_same(other.parameters()[i].value));
    }
}

TEST(Net, RowGradientsDoNotDependOnThreads) {
    at::manual_seed(1);
    const at::Tensor index = at::randint(5, {4000}, at::kLong);
    const at::Tensor weight = at::randn({4000, 40});
    std::vector<at::Tensor> gradients;
    const int before = at::get_num_threads();
    for (const int threads : {1, 2, 3}) {
        at::set_num_threads(threads);
        at::Tensor table = at::zeros({5, 40}).requires_grad_(true);
        (gather_rows(table, index) * weight).sum().backward();
        gradients.push_back(table.grad());
    }
    at::set_num_threads(before);
    EXPECT_TRUE(at::equal(gradients[0], gradients[1]));
    EXPECT_TRUE(at::equal(gradients[0], gradients[2]));
    const at::Tensor expected =
        at::zeros({5, 40}, at::kDouble).index_add(0, index, weight.to(at::kDouble));
    EXPECT_LT(difference(gradients[0], expected), 1e-3);
}

TEST(Net, TapSeesTheNamedValues) {
    const ModelConfig config = small_config("aft-conv2d", "image");
    const Net net(config, 3, test_device());
    std::set<std::string> seen;
    const Tap tap = [&](const std::string& name, const at::Tensor& value) {
        EXPECT_TRUE(seen.insert(name).second) << name;
        EXPECT_TRUE(value.defined());
        if (name == "blocks.1.k") {
            EXPECT_EQ(value.size(2), mixer_traits(config).heads);
        }
    };
    static_cast<void>(
        net.forward(on_device(input_for(config, 2, 7)), {.recompute = true, .tap = &tap}));
    const std::set<std::string> expected{
        "embedding",      "blocks.0.q",     "blocks.0.k",   "blocks.0.v", "blocks.0.mix",
        "blocks.0.mixed", "blocks.0.out",   "blocks.1.q",   "blocks.1.k", "blocks.1.v",
        "blocks.1.mix",   "blocks.1.mixed", "blocks.1.out", "logits"};
    EXPECT_EQ(seen, expected);
}

TEST(Net, LayersOnTheirOwn) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        const at::NoGradGuard no_gradients;
        Net net(c.config, 3, test_device());
        shake(net, 0.3, 5);
        at::Tensor first, second;
        const Tap tap = [&](const std::string& name, const at::Tensor& value) {
            if (name == "blocks.0.out") first = value;
            if (name == "blocks.1.out") second = value;
        };
        static_cast<void>(net.forward(on_device(input_for(c.config, 2, 7)), {.tap = &tap}));
        EXPECT_LT(difference(net.forward_layer(1, true, first), second), 1e-5 * largest(second));
        const at::Tensor mixed = net.forward_layer(1, false, first);
        EXPECT_EQ(mixed.sizes(), first.sizes());
        EXPECT_GT(difference(mixed, second), 1e-3);
        usage_error([&] { static_cast<void>(net.forward_layer(2, true, first)); });
        usage_error([&] { static_cast<void>(net.forward_layer(0, true, first[0])); });
    }
}

TEST(Net, BadInputIsAnError) {
    const ModelConfig config = small_config("aft-full", "image");
    const Net net(config, 3);
    const std::string value = usage_error(
        [&] { static_cast<void>(net.forward_fed(at::full({1, 4}, 6, at::kLong), {})); });
    EXPECT_NE(value.find("a token is 6"), std::string::npos) << value;
    const std::string length = usage_error([&] {
        static_cast<void>(net.forward(at::zeros({1, config.tokens() + 1}, at::kLong), {}));
    });
    EXPECT_NE(length.find(std::to_string(config.tokens())), std::string::npos) << length;
    usage_error([&] { static_cast<void>(net.forward_fed(at::full({1, 4}, -2, at::kLong), {})); });
    usage_error([&] { static_cast<void>(net.forward(at::zeros({1, 0}, at::kLong), {})); });
    usage_error([&] { static_cast<void>(net.forward(at::zeros({4}, at::kLong), {})); });
    usage_error([&] { static_cast<void>(net.forward(at::zeros({1, 4}), {})); });
    const Net classifier(small_config("softmax", "classify"), 3);
    usage_error([&] { static_cast<void>(classifier.forward(at::zeros({1, 3, 4, 4}), {})); });
    usage_error([&] { static_cast<void>(classifier.start(1)); });
}

}  // namespace
}  // namespace aft
