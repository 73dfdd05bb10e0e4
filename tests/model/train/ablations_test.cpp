// The paper's ablations of AFT-conv: hidden outside, entropy of the kernels, Gumbel-softmax.
#include <gtest/gtest.h>

#include <cmath>

#include "model/checkpoints/format.h"
#include "model/jobs/op.h"
#include "model/mixers/aft_layer.h"
#include "model/train/trainer.h"
#include "tests/core/scratch.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

ops::Inputs conv_inputs(const std::vector<int64_t>& kernel, int64_t T) {
    at::manual_seed(4);
    ops::Inputs in;
    in.q = at::randn({2, T, 6}, at::kDouble);
    in.k = 3 * at::randn({2, T, kernel[0]}, at::kDouble);
    in.v = at::randn({2, T, 6}, at::kDouble);
    in.w = at::randn(kernel, at::kDouble);
    return in;
}

struct HiddenCase {
    ops::OperatorKind kind;
    std::vector<int64_t> kernel;
    bool causal;
};

std::vector<HiddenCase> hidden_cases() {
    return {{ops::OperatorKind::conv1d, {3, 4}, true},
            {ops::OperatorKind::conv1d, {3, 5}, false},
            {ops::OperatorKind::conv1d, {3, 1}, false},
            {ops::OperatorKind::conv2d, {2, 3, 3}, true},
            {ops::OperatorKind::conv2d, {2, 3, 3}, false},
            {ops::OperatorKind::conv2d, {2, 9, 9}, false}};
}

ops::Options hidden_options(const HiddenCase& c, ops::OperatorBackend backend) {
    ops::Options options;
    options.causal = c.causal;
    options.outside_hidden = true;
    options.grid_height = 4;
    options.grid_width = 5;
    options.backend = backend;
    return options;
}

// The definition: a sum over the pairs that lie inside the kernel.
at::Tensor by_definition(const HiddenCase& c, const ops::Inputs& in) {
    const int64_t T = in.v.size(1), h = c.kernel[0], s = c.kernel[1], width = in.v.size(2) / h;
    at::Tensor y = at::zeros_like(in.v);
    for (int64_t t = 0; t < T; ++t)
        for (int64_t i = 0; i < h; ++i) {
            at::Tensor n = at::zeros({2, width}, at::kDouble), d = at::zeros({2, 1}, at::kDouble);
            for (int64_t j = 0; j < (c.causal ? t + 1 : T); ++j) {
                at::Tensor w;
                if (c.kind == ops::OperatorKind::conv1d) {
                    const int64_t tap = j - t + (c.causal ? s - 1 : s / 2);
                    if (tap < 0 || tap >= s) continue;
                    w = in.w[i][tap];
                } else {
                    const int64_t a = j / 5 - t / 5 + s / 2, b = j % 5 - t % 5 + s / 2;
                    if (a < 0 || a >= s || b < 0 || b >= s) continue;
                    w = in.w[i][a][b];
                }
                const at::Tensor e = (in.k.select(1, j).narrow(1, i, 1) + w).exp();
                n = n + e * in.v.select(1, j).narrow(1, i * width, width);
                d = d + e;
            }
            y.select(1, t).narrow(1, i * width, width).copy_(n / d);
        }
    return in.q.sigmoid() * y;
}

TEST(HiddenOutside, IsTheSumOverTheWindow) {
    for (const HiddenCase& c : hidden_cases()) {
        SCOPED_TRACE(ops::kind_name(c.kind));
        const ops::Inputs in = conv_inputs(c.kernel, 20);
        const at::Tensor expected = by_definition(c, in);
        for (const auto backend : {ops::OperatorBackend::reference, ops::OperatorBackend::tiled,
                                   ops::OperatorBackend::automatic})
            EXPECT_LT(difference(ops::apply(c.kind, in, hidden_options(c, backend)), expected),
                      1e-10);
        ops::Options open = hidden_options(c, ops::OperatorBackend::reference);
        open.outside_hidden = false;
        const bool covers = c.kernel[1] >= 9;
        EXPECT_EQ(difference(ops::apply(c.kind, in, open), expected) < 1e-10, covers);
    }
}

TEST(HiddenOutside, HasTheGradientsOfTheReference) {
    for (const HiddenCase& c : hidden_cases()) {
        SCOPED_TRACE(ops::kind_name(c.kind));
        std::vector<at::Tensor> kept;
        const at::Tensor dy = at::randn({2, 20, 6}, at::kDouble);
        for (const auto backend : {ops::OperatorBackend::reference, ops::OperatorBackend::tiled}) {
            ops::Inputs in = conv_inputs(c.kernel, 20);
            size_t i = 0;
            for (at::Tensor* x : {&in.q, &in.k, &in.v, &in.w}) x->requires_grad_(true);
            (ops::apply(c.kind, in, hidden_options(c, backend)) * dy).sum().backward();
            for (const at::Tensor& x : {in.q, in.k, in.v, in.w}) {
                if (backend == ops::OperatorBackend::reference)
                    kept.push_back(x.grad());
                else
                    EXPECT_LT(difference(x.grad(), kept[i]),
                              1e-9 * std::max(1.0, largest(kept[i])));
                ++i;
            }
        }
    }
}

TEST(HiddenOutside, IsNothingThatTheProcessorsKernelsDo) {
    const HiddenCase c = hidden_cases().front();
    ops::Inputs in = conv_inputs(c.kernel, 20);
    for (at::Tensor* x : {&in.q, &in.k, &in.v, &in.w}) *x = x->to(at::kFloat);
    try {
        static_cast<void>(ops::apply(c.kind, in, hidden_options(c, ops::OperatorBackend::cpu)));
        ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("tiled or reference"), std::string::npos);
    }
}

TEST(HiddenOutside, IsAnOptionOfTheCommandToo) {
    const Scratch folder;
    const HiddenCase c = hidden_cases().front();
    const ops::Inputs in = conv_inputs(c.kernel, 20);
    OpRequest request;
    request.name = "conv1d";
    request.in = (folder / "in.safetensors").string();
    request.out = (folder / "out.safetensors").string();
    request.causal = request.outside_hidden = true;
    request.precision = "fp64";
    write_tensors(request.in, {.tensors = {{"q", in.q}, {"k", in.k}, {"v", in.v}, {"w", in.w}},
                               .metadata = {}});
    static_cast<void>(op_job(request));
    EXPECT_LT(difference(*read_tensors(request.out).find("y"), by_definition(c, in)), 1e-10);
}

Kernel some_kernel(bool naive) {
    at::manual_seed(2);
    Kernel kernel;
    kernel.k = at::randn({3, 5, 5}, at::kDouble);
    if (naive) return kernel;
    kernel.gamma = at::randn({3}, at::kDouble);
    kernel.beta = at::randn({3}, at::kDouble);
    return kernel;
}

TEST(KernelEntropy, IsThatOfTheSoftmaxOfEveryHead) {
    for (const bool naive : {false, true}) {
        const Kernel kernel = some_kernel(naive);
        const at::Tensor w = kernel.effective().flatten(1);
        double expected = 0;
        for (int64_t i = 0; i < 3; ++i) {
            const at::Tensor p = w[i].softmax(0);
            for (int64_t tap = 0; tap < 25; ++tap)
                expected -= p[tap].item<double>() * std::log(p[tap].item<double>());
        }
        EXPECT_NEAR(kernel.entropy().item<double>(), expected, 1e-10);
        KernelSettings settings;
        EXPECT_FALSE(kernel_penalty(kernel, settings).defined());
        settings.kernel_entropy = 0.001;
        EXPECT_NEAR(kernel_penalty(kernel, settings).item<double>(), 0.001 * expected, 1e-12);
    }
}

TEST(KernelGumbel, IsASampleInTrainingAndOneHotInInference) {
    Kernel kernel = some_kernel(false);
    const at::Tensor w = kernel.effective();
    kernel.gumbel_tau = 0.5;
    const at::Tensor hard = kernel.effective();
    for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ((hard[i] != 0).sum().item<int64_t>(), 1);
        EXPECT_EQ(hard[i].flatten()[w[i].argmax()].item<double>(), w[i].max().item<double>());
    }
    const auto drawn = [&](uint64_t seed, int64_t layer) {
        MixContext context;
        context.noise = seed;
        context.layer = layer;
        return kernel.effective(context);
    };
    EXPECT_TRUE(at::equal(drawn(7, 1), drawn(7, 1)));
    EXPECT_FALSE(at::equal(drawn(7, 1), drawn(8, 1)));
    EXPECT_FALSE(at::equal(drawn(7, 1), drawn(7, 2)));
    const at::Tensor sample = (drawn(7, 1) / w).flatten(1);
    EXPECT_LT(difference(sample.sum(1), at::ones({3}, at::kDouble)), 1e-10) << "a distribution";
    EXPECT_GT(sample.min().item<double>(), 0);
}

// The place of the largest share is distributed as softmax(w): what a Gumbel-softmax is for.
TEST(KernelGumbel, DrawsPlacesWithTheProbabilitiesOfTheSoftmax) {
    Kernel kernel;
    kernel.k = at::tensor({0.5, -1.0, 1.0, 0.25}).to(at::kDouble).view({1, 4});
    kernel.gumbel_tau = 0.5;
    const at::Tensor p = kernel.k[0].softmax(0);
    constexpr int kDraws = 6000;  // 0.03 is 4.6 standard deviations of p = 0.45
    at::Tensor counts = at::zeros({4}, at::kDouble);
    for (int i = 0; i < kDraws; ++i) {
        MixContext context;
        context.noise = static_cast<uint64_t>(i);
        counts[(kernel.effective(context) / kernel.k)[0].argmax()] += 1;
    }
    EXPECT_LT(difference(counts / kDraws, p), 0.03);
}

Config sparse_config() {
    Config config = tiny_config();
    config.model.mixer = "aft-conv2d";
    config.model.own["window"] = 3;
    config.model.own["heads"] = 4;
    config.model.own["kernel_entropy"] = 0.001;
    config.model.own["kernel_gumbel_tau"] = 0.5;
    return config;
}

// The loss that is reported is the cross entropy; the penalty has a key of its own and moves the
// weights.
TEST(Ablations, ThePenaltyIsLoggedBesideTheLossAndTrains) {
    Config config = sparse_config(), plain = config;
    config.model.own["kernel_entropy"] = 5.0;
    plain.model.own["kernel_entropy"] = 0.0;
    Trainer with(config, at::kCPU), without(plain, at::kCPU);
    const StepReport a = with.step(), b = without.step();
    EXPECT_EQ(a.values.at("loss"), b.values.at("loss")) << "the first step has the same weights";
    EXPECT_FALSE(b.values.contains("penalty"));
    // gamma = 0 at the start: every head is even, ln 9 nats each.
    const double layers = static_cast<double>(config.model.layers);
    EXPECT_NEAR(a.values.at("penalty"), 5.0 * layers * 4 * std::log(9.0), 1e-4);
    for (int i = 0; i < 30; ++i) {
        static_cast<void>(with.step());
        static_cast<void>(without.step());
    }
    const auto places = [&](const Trainer& trainer) {
        double sum = 0;
        for (int64_t layer = 0; layer < config.model.layers; ++layer) {
            const at::Tensor w =
                dynamic_cast<const AftLayer&>(trainer.net().mixer(layer)).bias_inputs(0).w;
            sum += (w != 0).sum().item<double>();
        }
        return sum;
    };
    EXPECT_EQ(places(with), layers * 4) << "one place a head in inference";
    EXPECT_LT(with.step().values.at("penalty"), 0.95 * a.values.at("penalty"));
}

TEST(Ablations, AResumedRunRepeatsBitForBit) {
    Trainer straight(sparse_config(), at::kCPU);
    for (int i = 0; i < 6; ++i) static_cast<void>(straight.step());
    Trainer first(sparse_config(), at::kCPU);
    for (int i = 0; i < 3; ++i) static_cast<void>(first.step());
    Trainer second(first.checkpoint(true), at::kCPU);
    StepReport last;
    for (int i = 0; i < 3; ++i) last = second.step();
    for (size_t i = 0; i < straight.net().parameters().size(); ++i)
        EXPECT_TRUE(
            at::equal(straight.net().parameters()[i].value, second.net().parameters()[i].value))
            << straight.net().parameters()[i].name;
    EXPECT_EQ(last.step, 6);
}

// Recomputed blocks draw what they drew before.
TEST(Ablations, RecomputeDrawsTheSame) {
    Config config = sparse_config(), again = config;
    config.model.dropout = again.model.dropout = 0;
    again.train.recompute = true;
    Trainer kept(config, at::kCPU), recomputed(again, at::kCPU);
    for (int i = 0; i < 3; ++i) {
        const double a = kept.step().values.at("loss"), b = recomputed.step().values.at("loss");
        EXPECT_EQ(a, b);
    }
}

}  // namespace
}  // namespace aft
