// The checkpoints that are shipped (assets/demo): small, whole, and knowing what they were trained
// for.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/environment.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/data/loader.h"
#include "model/data/source.h"
#include "model/decode/decode.h"
#include "model/tasks/task.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

// The shipped models, or freshly trained ones of the same names (tests/learn.py).
Net demo_net(const std::string& name) {
    const fs::path trained = variable("AFTERIMAGE_DEMO_MODELS");
    const fs::path folder = trained.empty() ? shared_file("assets/demo") : trained;
    return make_net(read_checkpoint(folder / (name + ".safetensors")));
}

// Bits of every sub-pixel: [images, T].
at::Tensor bits(const Net& net, const at::Tensor& tokens) {
    const c10::NoGradGuard no_grad;
    const at::Tensor shares = at::log_softmax(net.forward(tokens, {}), -1);
    return -shares.gather(-1, tokens.unsqueeze(-1)).squeeze(-1) / std::log(2.0);
}

constexpr int64_t kSide = 16, kHalf = kSide * kSide / 2;  // of the mirror

int64_t mirrored(int64_t t) {
    return (kSide - 1 - t / kSide) * kSide + t % kSide;
}

at::Tensor mirror_images(int64_t count) {
    const auto source = open_source("mirror?size=16&levels=16", 1);
    return load_batch(*source, demo_net("mirror").config(), {Split::test, 0, count}).input;
}

// Part of the lower-half rows of w [T, T] in which the mirrored source (input m(t) + 1) leads every
// other visible one by a nat.
double leading_rows(const at::Tensor& w) {
    int64_t leading = 0;
    for (int64_t t = kHalf; t < 2 * kHalf; ++t) {
        at::Tensor row = w[t].narrow(0, 0, t + 1).clone();
        const int64_t source = mirrored(t) + 1;
        const double mirror = row[source].item<double>();
        row[source].fill_(-1e30);
        leading += mirror - row.max().item<double>() >= 1;
    }
    return static_cast<double>(leading) / kHalf;
}

// Lower halves filled in, given the upper ones: [images, T].
at::Tensor completed(const Net& net, const at::Tensor& images, double temperature) {
    at::Tensor out = images.clone();
    for (int64_t i = 0; i < images.size(0); ++i) {
        CompletionRequest request;
        const at::Tensor bytes = images[i].to(at::kByte).contiguous();
        request.tokens.assign(bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + 2 * kHalf);
        request.unknown.assign(2 * kHalf, 0);
        std::fill(request.unknown.begin() + kHalf, request.unknown.end(), 1);
        request.sample.samples = 1;
        request.sample.temperature = temperature;
        const Completion answer = run_completion(net, request, {}, {});
        for (int64_t t = 0; t < 2 * kHalf; ++t)
            out[i][t] = static_cast<int64_t>(answer.samples.at(0)[static_cast<size_t>(t)]);
    }
    return out;
}

TEST(DemoCheckpoints, AreSmallWholeAndWeightsOnly) {
    int64_t found = 0;
    for (const auto& entry : fs::directory_iterator(shared_file("assets/demo"))) {
        if (entry.path().extension() != ".safetensors") continue;
        ++found;
        EXPECT_LT(entry.file_size(), 3'000'000u) << entry.path();
        const Checkpoint checkpoint = read_checkpoint(entry.path());
        EXPECT_TRUE(checkpoint.optimizer.empty()) << entry.path();
        EXPECT_FALSE(checkpoint.metrics.empty()) << entry.path();
        (void)make_net(checkpoint);
    }
    EXPECT_EQ(found, 3);
}

TEST(DemoCheckpoints, TheMirrorListensToTheMirroredSource) {
    const Net net = demo_net("mirror");
    double best = 0;
    for (int64_t layer = 0; layer < net.config().layers; ++layer)
        best = std::max(best, leading_rows(*net.mixer(layer).bias(2 * kHalf)));
    EXPECT_GE(best, 0.95);
}

TEST(DemoCheckpoints, TheMirroredHalfCostsNothing) {
    const at::Tensor cost = bits(demo_net("mirror"), mirror_images(64));
    const double upper = cost.narrow(1, 0, kHalf).mean().item<double>();
    const double lower = cost.narrow(1, kHalf, kHalf).mean().item<double>();
    EXPECT_LE(lower, 0.05);
    EXPECT_LE(lower, upper / 20);
    EXPECT_GT(upper, 1);
}

TEST(DemoCheckpoints, TheMirrorCompletesUnseenImages) {
    const Net net = demo_net("mirror");
    const at::Tensor images = mirror_images(8);
    const at::Tensor greedy = completed(net, images, 0), warm = completed(net, images, 1);
    const double cells = static_cast<double>(images.size(0) * kHalf);
    EXPECT_GE(cells - (greedy != images).sum().item<double>(), 0.99 * cells);
    EXPECT_LE((warm - images).abs().sum().item<double>() / cells, 0.1);
}

TEST(DemoCheckpoints, ShapesAreToldApart) {
    const Net net = demo_net("shapes");
    const auto source = open_source("shapes?size=32", 1);
    const Batch batch = load_batch(*source, net.config(), {Split::test, 0, 300});
    const c10::NoGradGuard no_grad;
    const TaskResult result = task_of(net.config()).evaluate(net, batch, {}, {});
    EXPECT_GE(result.metrics.at("accuracy"), 0.95);
}

// Target t predicts sub-pixel t; source j is sub-pixel j - 1. So the left pixel of the same channel
// (three sub-pixels back) is offset 2, the one above (a row of 48 back) offset 47.
TEST(DemoCheckpoints, CifarLooksLeftAndUp) {
    const Net net = demo_net("cifar10-small");
    const at::Tensor w = *net.mixer(0).bias(net.config().tokens());
    std::vector<std::pair<double, int64_t>> strength;
    for (int64_t offset = 0; offset < mixer_traits(net.config()).window; ++offset)
        strength.emplace_back(-w.diagonal(-offset).mean().item<double>(), offset);
    std::sort(strength.begin(), strength.end());
    int64_t found = 0;
    constexpr size_t kStrongest = 8;
    for (size_t i = 0; i < kStrongest; ++i)
        found += strength[i].second == 2 || strength[i].second == 47;
    EXPECT_EQ(found, 2);
}

// Probability of `wins` or more of `n` by chance.
double sign_test(int64_t wins, int64_t n) {
    double p = 0;
    for (int64_t k = wins; k <= n; ++k)
        p += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                      static_cast<double>(n) * std::log(2.0));
    return p;
}

// The true lower half must be likelier after its own upper half than after another image's: a sign
// test over pairs, p < 0.01.
TEST(DemoCheckpoints, CifarKnowsWhichHalfBelongs) {
    const fs::path data = real_data("cifar10");
    if (!fs::exists(data / "test_batch.bin")) GTEST_SKIP() << "no CIFAR-10 in " << data;
    const Net net = demo_net("cifar10-small");
    const auto source = open_source("cifar10:" + data.string() + "?size=16", 1);
    constexpr int64_t kImages = 200;
    const at::Tensor own = load_batch(*source, net.config(), {Split::test, 0, kImages}).input;
    const int64_t half = net.config().tokens() / 2;
    at::Tensor other = own.clone();
    other.narrow(1, 0, half).copy_(own.roll(1, 0).narrow(1, 0, half));
    const auto lower = [&](const at::Tensor& tokens) {
        return bits(net, tokens).narrow(1, half, half).sum(1);
    };
    const int64_t wins = (lower(own) < lower(other)).sum().item<int64_t>();
    EXPECT_LT(sign_test(wins, kImages), 0.01) << wins << " of " << kImages;
}

}  // namespace
}  // namespace aft
