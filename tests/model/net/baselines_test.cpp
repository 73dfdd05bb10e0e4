// The baselines against dense evaluations of their definitions, and against softmax where they
// become it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

const at::Tensor& parameter(const Net& net, const std::string& name) {
    for (const Parameter& p : net.parameters())
        if (p.name == "blocks.0.mixer." + name) return p.value;
    fail("no parameter {}", name);
}

// One layer on the processor in float64, its parameters moved away from their start.
Net layer_of(ModelConfig config) {
    at::set_num_threads(1);
    config.layers = 1;
    Net net(config, 3);
    shake(net, 0.3, 5);
    to_double(net);
    return net;
}

ModelConfig text_model(const std::string& mixer, int64_t length = 50) {
    ModelConfig config = small_config(mixer, "text");
    config.own["length"] = length;
    return config;
}

at::Tensor linear_map(const Net& net, const std::string& name, const at::Tensor& x) {
    return at::linear(x, parameter(net, name + ".weight"), parameter(net, name + ".bias"));
}

at::Tensor by_head(const at::Tensor& x) {  // [B, T, d] -> [B, 2, T, d/2]
    return x.view({x.size(0), x.size(1), 2, -1}).transpose(1, 2);
}

at::Tensor causal_mask(int64_t T) {
    return at::ones({T, T}, at::kBool).tril();
}

// softmax over the sources of `visible` [T, T] of Q K^T / sqrt(d/h), with the net's projections.
at::Tensor dense_softmax(const Net& net, const at::Tensor& x, const at::Tensor& visible) {
    const at::Tensor q = by_head(linear_map(net, "q", x)), k = by_head(linear_map(net, "k", x));
    const at::Tensor logits =
        at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
    const at::Tensor shares = logits.masked_fill(visible.logical_not(), kHidden).softmax(3);
    const at::Tensor y = at::matmul(shares, by_head(linear_map(net, "v", x)));
    return linear_map(net, "o", y.transpose(1, 2).flatten(2));
}

at::Tensor input_of(const ModelConfig& config, int64_t T) {
    at::manual_seed(11);
    return at::randn({3, T, config.dim}, at::kDouble);
}

double distance_of(const Net& net, const at::Tensor& x, const at::Tensor& visible) {
    const at::NoGradGuard no_gradients;
    return difference(net.mixer(0).forward(x, {}), dense_softmax(net, x, visible));
}

TEST(Baselines, LocalSoftmaxIsSoftmaxInItsWindow) {
    for (const int64_t T : {1, 7, 50, 200})
        for (const int64_t window : {1, 2, 5, 70, 1000}) {
            SCOPED_TRACE(std::to_string(T) + " tokens, window " + std::to_string(window));
            ModelConfig config = text_model("local-softmax", 200);
            config.own["window"] = window;
            const Net net = layer_of(config);
            const at::Tensor t = at::arange(T, at::kLong);
            const at::Tensor near = (t.unsqueeze(1) - t.unsqueeze(0)).abs() < window;
            const at::Tensor x = input_of(config, T);
            EXPECT_LT(distance_of(net, x, near.logical_and(causal_mask(T))), 1e-12);
            if (T > 5 && window < 5) {
                EXPECT_GT(distance_of(net, x, causal_mask(T)), 1e-3);
            }
        }
    ModelConfig whole = small_config("local-softmax", "classify");
    whole.own["window"] = 4;
    const at::Tensor t = at::arange(16, at::kLong);
    const Net net = layer_of(whole);
    EXPECT_LT(distance_of(net, input_of(whole, 16), (t.unsqueeze(1) - t.unsqueeze(0)).abs() < 4),
              1e-12)
        << "not causal";
}

TEST(Baselines, StridedIsSoftmaxWithItsMask) {
    for (const int64_t T : {1, 4, 5, 23, 50})
        for (const int64_t stride : {1, 3, 7, 64}) {
            SCOPED_TRACE(std::to_string(T) + " tokens, stride " + std::to_string(stride));
            ModelConfig config = text_model("strided");
            config.own["stride"] = stride;
            const Net net = layer_of(config);
            const at::Tensor t = at::arange(T, at::kLong);
            const at::Tensor back = t.unsqueeze(1) - t.unsqueeze(0);
            const at::Tensor visible = causal_mask(T).logical_and(
                (back <= stride).logical_or(back.remainder(stride) == 0));
            EXPECT_LT(distance_of(net, input_of(config, T), visible), 1e-12);
        }
}

TEST(Baselines, Local2dIsSoftmaxWithItsMask) {
    for (const auto& [a, b] :
         {std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 4}, std::pair{8, 16}}) {
        SCOPED_TRACE(std::to_string(a) + " x " + std::to_string(b));
        ModelConfig config = small_config("local2d", "image");
        config.height = 7;
        config.width = 5;
        config.own["block_height"] = a;
        config.own["block_width"] = b;
        const Net net = layer_of(config);
        const int64_t width = config.grid_width(), T = config.tokens();
        at::Tensor visible = at::zeros({T, T}, at::kBool);
        for (int64_t t = 0; t < T; ++t)
            for (int64_t j = 0; j <= t; ++j) {
                const int64_t top = t / width / a * a, left = t % width / b * b;
                const int64_t y = j / width, x = j % width;
                visible[t][j] = y >= top - a && x >= left - b / 2 && x < left + b + b / 2;
            }
        EXPECT_LT(distance_of(net, input_of(config, T), visible), 1e-12);
        const int64_t part = T / 2 + 1;  // ends inside the picture
        EXPECT_LT(
            distance_of(net, input_of(config, part), visible.narrow(0, 0, part).narrow(1, 0, part)),
            1e-12);
    }
}

TEST(Baselines, PerformerNearsSoftmaxAsFeaturesGrow) {
    const at::NoGradGuard no_gradients;
    double before = std::numeric_limits<double>::infinity();
    for (const int64_t features : {16, 256, 4096}) {
        ModelConfig config = text_model("performer");
        config.own["features"] = features;
        const Net net = layer_of(config);
        // Its own directions, without the noise of layer_of
        const Net fresh(net.config(), 3);
        parameter(net, "features").copy_(parameter(fresh, "features"));
        // The variance of the features grows exponentially with the logits: small ones.
        const at::Tensor x = 0.2 * input_of(config, 50);
        const double error = distance_of(net, x, causal_mask(50));
        EXPECT_LT(error, 0.7 * before) << features;
        before = error;
    }
    EXPECT_LT(before, 0.02);
}

TEST(Baselines, PerformerIsItsRecurrence) {
    const at::NoGradGuard no_gradients;
    const ModelConfig config = text_model("performer", 200);
    const Net net = layer_of(config);
    const at::Tensor x = input_of(config, 200);
    const auto features = [&](const at::Tensor& of) {
        const at::Tensor scaled = by_head(of) * std::pow(4.0, -0.25);  // d/h = 4
        return (at::matmul(scaled, parameter(net, "features").t()) -
                scaled.square().sum(3, true) / 2)
            .exp();
    };
    const at::Tensor weights = at::matmul(features(linear_map(net, "q", x)),
                                          features(linear_map(net, "k", x)).transpose(2, 3))
                                   .tril();
    const at::Tensor y =
        at::matmul(weights / weights.sum(3, true), by_head(linear_map(net, "v", x)));
    const at::Tensor expected = linear_map(net, "o", y.transpose(1, 2).flatten(2));
    EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-12 * largest(expected));
}

TEST(Baselines, PerformersDirectionsAreOrthogonalAndKept) {
    ModelConfig config = text_model("performer");
    config.own["features"] = 10;  // d/h = 4: blocks of 4, 4 and 2
    const Net net(config, 3), same(config, 3), other(config, 4);
    const at::Tensor w = parameter(net, "features").to(at::kDouble);
    for (const int64_t first : {0, 4}) {
        const at::Tensor block = w.narrow(0, first, 4), unit = block / block.norm(2, {1}, true);
        EXPECT_LT(difference(at::mm(unit, unit.t()), at::eye(4, at::kDouble)), 1e-6);
    }
    EXPECT_TRUE(at::equal(w, parameter(same, "features").to(at::kDouble)));
    EXPECT_FALSE(at::equal(w, parameter(other, "features").to(at::kDouble)));
    EXPECT_FALSE(parameter(net, "features").requires_grad());
}

TEST(Baselines, LinearIsItsRecurrence) {
    const at::NoGradGuard no_gradients;
    const ModelConfig config = text_model("linear", 200);
    const Net net = layer_of(config);
    const at::Tensor x = input_of(config, 200);
    const at::Tensor q = at::elu(by_head(linear_map(net, "q", x))) + 1;
    const at::Tensor k = at::elu(by_head(linear_map(net, "k", x))) + 1;
    const at::Tensor v = by_head(linear_map(net, "v", x));
    at::Tensor S = at::zeros({3, 2, 4, 4}, at::kDouble), z = at::zeros({3, 2, 4}, at::kDouble);
    std::vector<at::Tensor> rows;
    for (int64_t t = 0; t < 200; ++t) {
        const at::Tensor kt = k.select(2, t), qt = q.select(2, t);
        S = S + kt.unsqueeze(3) * v.select(2, t).unsqueeze(2);
        z = z + kt;
        rows.push_back(at::matmul(qt.unsqueeze(2), S).squeeze(2) / (qt * z).sum(2, true));
    }
    const at::Tensor expected = linear_map(net, "o", at::stack(rows, 2).transpose(1, 2).flatten(2));
    EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-11 * largest(expected));
}

// Q K^T of a key of length 1, itself at -1e5.
at::Tensor shared_logits(const at::Tensor& q) {
    const at::Tensor k = q / q.norm(2, {3}, true);
    const at::Tensor itself = at::eye(q.size(2), at::TensorOptions().dtype(at::kBool));
    return at::matmul(q, k.transpose(2, 3)).masked_fill(itself, -1e5);
}

TEST(Baselines, ReformerWithOneBucketIsSoftmaxWithSharedKeys) {
    const at::NoGradGuard no_gradients;
    for (const int64_t rounds : {1, 3})
        for (const int64_t T : {1, 2, 50}) {
            ModelConfig config = text_model("reformer");
            config.own["buckets"] = 1;
            config.own["rounds"] = rounds;
            config.own["window"] = 50;
            const Net net = layer_of(config);
            const at::Tensor x = input_of(config, T);
            const at::Tensor shares = shared_logits(by_head(linear_map(net, "q", x)))
                                          .masked_fill(causal_mask(T).logical_not(), kHidden)
                                          .softmax(3);
            const at::Tensor y = at::matmul(shares, by_head(linear_map(net, "v", x)));
            const at::Tensor expected = linear_map(net, "o", y.transpose(1, 2).flatten(2));
            EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-10)
                << rounds << " rounds, " << T << " tokens";
        }
}

// The union of the rounds' sets, worked out pair by pair.
TEST(Baselines, ReformerIsSoftmaxOverTheUnionOfItsBuckets) {
    const at::NoGradGuard no_gradients;
    ModelConfig config = text_model("reformer");
    config.own["rounds"] = 2;
    config.own["window"] = 5;
    const Net net = layer_of(config);
    const int64_t T = 50;
    const at::Tensor x = input_of(config, T), q = by_head(linear_map(net, "q", x));
    at::Tensor visible = at::zeros({3, 2, T, T}, at::kBool);
    for (int64_t r = 0; r < 2; ++r) {
        const at::Tensor turned = at::matmul(q, parameter(net, "hash")[r]);
        const at::Tensor bucket = at::cat({turned, -turned}, 3).argmax(3);
        for (int64_t b = 0; b < 3; ++b)
            for (int64_t h = 0; h < 2; ++h)
                for (int64_t t = 0; t < T; ++t)
                    for (int64_t j = t, seen = 0; j >= 0 && seen < 5; --j) {
                        if (bucket[b][h][j].item<int64_t>() != bucket[b][h][t].item<int64_t>())
                            continue;
                        ++seen;
                        visible[b][h][t][j] = true;
                    }
    }
    const at::Tensor shares =
        shared_logits(q).masked_fill(visible.logical_not(), kHidden).softmax(3);
    const at::Tensor y = at::matmul(shares, by_head(linear_map(net, "v", x)));
    const at::Tensor expected = linear_map(net, "o", y.transpose(1, 2).flatten(2));
    EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-10);
}

TEST(Baselines, SynthesizersWeightsIgnoreOtherTokens) {
    const at::NoGradGuard no_gradients;
    const ModelConfig config = text_model("synthesizer");
    const Net net = layer_of(config);
    const at::Tensor x = input_of(config, 50);
    const at::Tensor inside = at::relu(linear_map(net, "inner", x));
    const at::Tensor logits =
        at::matmul(by_head(inside), parameter(net, "logits.weight").transpose(1, 2)) +
        parameter(net, "logits.bias").unsqueeze(1);
    const at::Tensor shares = logits.masked_fill(causal_mask(50).logical_not(), kHidden).softmax(3);
    const at::Tensor y = at::matmul(shares, by_head(linear_map(net, "v", x)));
    const at::Tensor expected = linear_map(net, "o", y.transpose(1, 2).flatten(2));
    EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-12);

    // Row 20 of the weights is the same whatever the others are.
    const auto row = [&](const at::Tensor& of) {
        LayerTaps taps{.q = at::relu(linear_map(net, "inner", of))[0], .k = {}, .v = of[0]};
        return net.mixer(0).attention_rows({.taps = taps, .target = 20, .bias = {}}).logits;
    };
    at::Tensor other = at::randn_like(x);
    other.select(1, 20).copy_(x.select(1, 20));
    EXPECT_TRUE(at::equal(row(x), row(other)));
    other.select(1, 20).add_(1);
    EXPECT_FALSE(at::equal(row(x), row(other)));
}

// Eq. 1 and 2 of Bello 2021, one position after the other.
TEST(Baselines, LambdaIsItsDefinition) {
    const at::NoGradGuard no_gradients;
    ModelConfig config = small_config("lambda", "classify");
    config.height = 3;
    config.width = 4;
    const Net net = layer_of(config);
    const int64_t T = 12;
    const at::Tensor x = input_of(config, T);
    const auto normed = [&](const at::Tensor& of, const std::string& name) {
        return at::layer_norm(of, {of.size(-1)}, parameter(net, name + ".weight"),
                              parameter(net, name + ".bias"), config.norm_eps);
    };
    const at::Tensor v = normed(linear_map(net, "v", x), "v_norm");
    const at::Tensor k = linear_map(net, "k", x).softmax(1);
    const at::Tensor q = normed(linear_map(net, "q", x).view({3, T, 2, 4}), "q_norm");
    std::vector<at::Tensor> rows;
    for (int64_t n = 0; n < T; ++n) {
        at::Tensor L = at::zeros({3, 4, 4}, at::kDouble);
        for (int64_t m = 0; m < T; ++m) {
            const at::Tensor E = parameter(net, "offsets")[m / 4 - n / 4 + 2][m % 4 - n % 4 + 3];
            L = L + (k.select(1, m) + E).unsqueeze(2) * v.select(1, m).unsqueeze(1);
        }
        rows.push_back(at::matmul(q.select(1, n), L).flatten(1));
    }
    const at::Tensor expected = linear_map(net, "o", at::stack(rows, 1));
    EXPECT_LT(difference(net.mixer(0).forward(x, {}), expected), 1e-12 * largest(expected));
}

TEST(Baselines, WhatTheyCannotDoIsRefused) {
    const auto refused = [](const std::string& mixer, const std::string& task, auto change) {
        ModelConfig config = small_config(mixer, task);
        change(config);
        try {
            config.check();
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto has_words = [](const std::string& text, const char* words) {
        return text.find(words) != std::string::npos;
    };
    EXPECT_TRUE(has_words(refused("local-softmax", "text", [](auto& c) { c.own["window"] = 0; }),
                          "model.window = 0"));
    EXPECT_TRUE(has_words(refused("reformer", "text", [](auto& c) { c.own["buckets"] = 3; }),
                          "model.buckets = 3"));
    EXPECT_TRUE(has_words(refused("reformer", "text", [](auto& c) { c.own["window"] = 0; }),
                          "model.window = 0"));
    EXPECT_TRUE(has_words(refused("local2d", "text", [](auto&) {}), "local-softmax"));
    EXPECT_TRUE(has_words(refused("strided", "classify", [](auto&) {}), "not causal"));
    EXPECT_TRUE(has_words(refused("lambda", "image", [](auto&) {}), "causal"));
    EXPECT_TRUE(
        has_words(refused("lambda", "classify", [](auto& c) { c.own["class_token"] = true; }),
                  "class token"));
    for (const char* mixer : {"linear", "performer", "synthesizer", "strided"})
        EXPECT_TRUE(has_words(refused(mixer, "text", [](auto& c) { c.own["query_gate"] = false; }),
                              "model.query_gate"))
            << mixer;
}

}  // namespace
}  // namespace aft
