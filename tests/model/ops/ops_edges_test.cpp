// Cases computed by hand, edges of the sizes, refused input, and when the exact path is taken.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "core/check.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

const std::vector<OperatorBackend>& backends() {
    static const std::vector<OperatorBackend> list{
        OperatorBackend::reference, OperatorBackend::tiled, OperatorBackend::automatic};
    return list;
}

at::Tensor column(std::vector<double> values) {  // [1, T, 1]
    const auto T = static_cast<int64_t>(values.size());
    return at::tensor(values, at::kDouble).view({1, T, 1});
}

at::Tensor answer(OperatorKind kind, const Inputs& in, const Options& options) {
    return operator_of(options.backend)(kind, in, options);
}

void expect_values(const at::Tensor& y, std::vector<double> values) {
    const at::Tensor expected = column(std::move(values));
    const bool is_float = y.scalar_type() == at::kFloat;
    const double limit = is_float ? kFewSources * expected.abs().max().item<double>() : 1e-6;
    EXPECT_LT(largest_difference(y, expected), limit) << y;
}

// exp(K) = 1, 3 and values 4, 8: weights 1:3.
TEST(OpsByHand, two_tokens) {
    for (const OperatorBackend backend : backends())
        for (const auto type : {at::kFloat, at::kDouble}) {
            Inputs in;
            in.k = column({0, std::log(3.0)}).to(type);
            in.v = column({4, 8}).to(type);
            Options options{.causal = true, .backend = backend};
            expect_values(answer(OperatorKind::simple, in, options), {4, 7});
            options.causal = false;
            expect_values(answer(OperatorKind::simple, in, options), {7, 7});
            in.q = column({0, std::log(3.0)}).to(type);  // gates 1/2 and 3/4
            expect_values(answer(OperatorKind::simple, in, options), {3.5, 5.25});
            // Row 0 doubles source 1 (1:6), row 1 triples source 0 (3:3).
            in.q = at::Tensor();
            in.w = at::tensor({0.0, std::log(2.0), std::log(3.0), 0.0}, at::kDouble)
                       .view({2, 2})
                       .to(type);
            expect_values(answer(OperatorKind::full, in, options), {(4 + 6 * 8) / 7.0, 6});
            options.causal = true;
            expect_values(answer(OperatorKind::full, in, options), {4, 6});
        }
}

// Keys all 0, values 1, 10, 100: only the biases decide.
TEST(OpsByHand, three_tokens) {
    const double two = std::log(2.0), five = std::log(5.0);
    for (const OperatorBackend backend : backends()) {
        Inputs in;
        in.k = column({0, 0, 0});
        in.v = column({1, 10, 100});
        in.w = at::full({3, 3}, two, at::kDouble);
        Options options{.window = 2, .backend = backend};
        // |t - j| < 2 weighs 2, the far corner weighs 1.
        expect_values(answer(OperatorKind::local, in, options), {122 / 5.0, 222 / 6.0, 221 / 5.0});
        options.causal = true;
        expect_values(answer(OperatorKind::local, in, options), {1, 22 / 4.0, 221 / 5.0});
        options.outside_hidden = true;
        expect_values(answer(OperatorKind::local, in, options), {1, 5.5, 55});
        // Kernel of 3 taps: previous token weighs 2, itself 1, next 5.
        options = {.backend = backend};
        in.w = at::tensor({two, 0.0, five}, at::kDouble).view({1, 3});
        expect_values(answer(OperatorKind::conv1d, in, options), {151 / 7.0, 512 / 8.0, 121 / 4.0});
        options.causal = true;  // taps are offsets -2, -1, 0
        expect_values(answer(OperatorKind::conv1d, in, options), {1, 51 / 6.0, 512 / 8.0});
        // A row of three in a grid: only the middle row of taps (a = 1) can meet it.
        options = {.grid_height = 1, .grid_width = 3, .backend = backend};
        in.w = at::full({1, 3, 3}, 7, at::kDouble);
        in.w[0][1] = at::tensor({two, 0.0, five}, at::kDouble);
        expect_values(answer(OperatorKind::conv2d, in, options), {151 / 7.0, 512 / 8.0, 121 / 4.0});
    }
}

TEST(OpsByHand, baselines) {
    for (const OperatorBackend backend : backends()) {
        Inputs in;
        in.q = column({1, 1});
        in.k = column({0, std::log(3.0)});  // d = 1: scores are the keys
        in.v = column({4, 8});
        Options options{.backend = backend};
        expect_values(answer(OperatorKind::softmax, in, options), {7, 7});
        options.causal = true;
        expect_values(answer(OperatorKind::softmax, in, options), {4, 7});
        in.k = column({0, 2});  // elu + 1 = 1, 3
        expect_values(answer(OperatorKind::linear, in, options), {4, 7});
        in.k = column({-1, -1 + std::log(3.0)});  // exp(-1), then 0.0986 + 1
        const double a = std::exp(-1.0), b = std::log(3.0);
        expect_values(answer(OperatorKind::linear, in, options), {4, (4 * a + 8 * b) / (a + b)});
    }
}

// Baselines too: tiled agrees with the reference, and stays finite where features underflow.
TEST(OpsBaselines, agree_and_stay_finite) {
    for (const OperatorKind kind : {OperatorKind::softmax, OperatorKind::linear})
        for (const bool causal : {false, true})
            for (const double scale : {1.0, 300.0}) {
                const Sample sample = make_sample(
                    {.kind = kind, .causal = causal, .length = 150, .key_scale = scale});
                const Result truth = run(oracle(), kind, sample, at::kDouble);
                const Result found =
                    run(operator_of(OperatorBackend::tiled), kind, sample, at::kFloat);
                EXPECT_LT(forward_error(found, truth, sample), scale == 1 ? 1e-5 : 1e-3)
                    << kind_name(kind);
                for (const auto& [name, g] : found.gradients)
                    EXPECT_TRUE(g.isfinite().all().item<bool>()) << kind_name(kind) << name;
            }
    Sample dark = make_sample({.kind = OperatorKind::linear, .causal = true});
    dark.in.k = dark.in.k - 900;  // every feature underflows, in float64 too
    dark.in.q = dark.in.q - 900;
    for (const OperatorBackend backend : backends()) {
        const Result y = run(operator_of(backend), OperatorKind::linear, dark, at::kFloat);
        EXPECT_TRUE(y.y.isfinite().all().item<bool>());
        for (const auto& [name, g] : y.gradients) EXPECT_TRUE(g.isfinite().all().item<bool>());
    }
}

TEST(OpsEdges, one_token_no_samples_odd_sizes) {
    for (const OperatorBackend backend : backends())
        for (OpsCase c : aft_cases()) {
            c.length = 1;
            c.grid_width = 1;
            Sample one = make_sample(c);
            const Result y = run(operator_of(backend), c.kind, one, at::kFloat);
            const double size = one.in.v.abs().max().item<double>();
            EXPECT_LT(largest_difference(y.y, one.in.q.sigmoid() * one.in.v), kFewSources * size)
                << describe(c);
            for (const auto& [name, g] : y.gradients)
                EXPECT_TRUE(name == "dq" || name == "dv" || g.abs().max().item<double>() < 1e-5)
                    << name << describe(c);
            c.length = 35;
            c.grid_width = 7;
            c.batch = 0;
            const Sample none = make_sample(c);
            EXPECT_EQ(run(operator_of(backend), c.kind, none, at::kFloat).y.sizes(),
                      at::IntArrayRef({0, 35, c.dim}));
            c.batch = 3;
            const Sample odd = make_sample(c);
            const Result found = run(operator_of(backend, 11), c.kind, odd, at::kFloat);
            EXPECT_LT(largest_difference(found.y, definition(c.kind, odd)),
                      kForward * odd.in.v.abs().max().item<double>())
                << describe(c);
        }
}

TEST(OpsEdges, same_bits_twice) {
    for (const OpsCase& c : aft_cases()) {
        const Sample sample = make_sample(c);
        const Result a = run(operator_of(OperatorBackend::tiled, 8), c.kind, sample, at::kFloat);
        const Result b = run(operator_of(OperatorBackend::tiled, 8), c.kind, sample, at::kFloat);
        EXPECT_TRUE(at::equal(a.y, b.y));
        for (size_t i = 0; i < a.gradients.size(); ++i)
            EXPECT_TRUE(at::equal(a.gradients[i].second, b.gradients[i].second)) << describe(c);
    }
}

int64_t exact_blocks_of(OperatorKind kind, const Sample& sample) {
    const int64_t before = exact_blocks();
    (void)operator_of(OperatorBackend::tiled, 32)(kind, converted(sample.in, at::kFloat),
                                                  sample.options);
    return exact_blocks() - before;
}

// Blocks of 32 rows. A key of 100 at j = 40 of one channel: rows that see it with w = 0 are safe;
// rows where w hides it, and rows of its own block before it, are not.
TEST(OpsExactPath, counts_exactly_the_blocks_that_need_it) {
    for (const bool causal : {false, true}) {
        Sample sample = make_sample({.kind = OperatorKind::full, .causal = causal, .length = 128});
        EXPECT_EQ(exact_blocks_of(OperatorKind::full, sample), 0) << "ordinary input";
        sample.in.w.mul_(200);
        EXPECT_EQ(exact_blocks_of(OperatorKind::full, sample), 0) << "large w alone is safe";
        sample = make_sample({.kind = OperatorKind::full, .causal = causal, .length = 128});
        sample.in.k[1][40][2] = 100;
        EXPECT_EQ(exact_blocks_of(OperatorKind::full, sample), causal ? 1 : 0);
        sample.in.w.narrow(0, 96, 32).select(1, 40).fill_(-60);
        EXPECT_EQ(exact_blocks_of(OperatorKind::full, sample), causal ? 2 : 1);
        const Result truth = run(oracle(), OperatorKind::full, sample, at::kDouble);
        const Result found =
            run(operator_of(OperatorBackend::tiled, 32), OperatorKind::full, sample, at::kFloat);
        EXPECT_LT(forward_error(found, truth, sample), 1e-5);
        EXPECT_LT(gradient_error(found, truth, sample).value, 2e-5);
    }
}

// Large keys that come later must not push the earlier, visible ones into the exact path.
TEST(OpsExactPath, future_keys_do_not_trigger_it) {
    Sample sample = make_sample({.kind = OperatorKind::local, .causal = true, .length = 128});
    sample.in.k.narrow(1, 64, 32).add_(45);
    sample.in.k.narrow(1, 96, 32).add_(90);
    EXPECT_EQ(exact_blocks_of(OperatorKind::local, sample), 0);
}

// Biases as long training leaves them: w of hundreds, and keys whose spread is past what one
// scaling can hold. The usual quick form is silently wrong here.
TEST(OpsExactPath, grown_biases) {
    for (const int64_t factors : {0, 8}) {
        Sample sample = make_sample({.kind = OperatorKind::local,
                                     .causal = true,
                                     .length = 128,
                                     .window = 48,
                                     .factors = factors,
                                     .key_scale = 25,
                                     .bias_scale = 300});
        sample.in = converted(converted(sample.in, at::kFloat), at::kDouble);
        EXPECT_GT(exact_blocks_of(OperatorKind::local, sample), 0);
        const Result truth = run(oracle(), OperatorKind::local, sample, at::kDouble);
        const Result found =
            run(operator_of(OperatorBackend::tiled, 32), OperatorKind::local, sample, at::kFloat);
        EXPECT_LT(forward_error(found, truth, sample), 1e-5);
        EXPECT_LT(gradient_error(found, truth, sample).value, 2e-5);
    }
}

std::string refusal(OperatorKind kind, const Inputs& in, const Options& options) {
    try {
        (void)apply(kind, in, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

void expect_mentions(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(OpsErrors, name_the_tensor_and_both_shapes) {
    Sample s = make_sample({.kind = OperatorKind::full});
    Inputs in = s.in;
    in.w = at::zeros({7, 7}, at::kDouble);
    expect_mentions(refusal(OperatorKind::full, in, {}), {"w", "[7, 7]", "[30, 30]", "[2, 30, 6]"});
    in = s.in;
    in.k = in.k.narrow(1, 0, 29);
    expect_mentions(refusal(OperatorKind::full, in, {}), {"k", "[2, 29, 6]", "[2, 30, 6]"});
    in = s.in;
    in.q = in.q.to(at::kFloat);
    expect_mentions(refusal(OperatorKind::full, in, {}),
                    {"q [2, 30, 6] is Float", "v [2, 30, 6] is Double", "bfloat16"});
    in = s.in;
    in.w = in.w.to("meta");
    expect_mentions(refusal(OperatorKind::full, in, {}),
                    {"w [30, 30] is on meta", "v [2, 30, 6] is on cpu"});
    in = s.in;
    in.u = at::zeros({30, 4}, at::kDouble);
    expect_mentions(refusal(OperatorKind::full, in, {}), {"w", "u, r"});
    in.w = at::Tensor();
    expect_mentions(refusal(OperatorKind::full, in, {}), {"u", "r"});
    in.r = at::zeros({30, 5}, at::kDouble);
    expect_mentions(refusal(OperatorKind::full, in, {}), {"r", "[30, 5]", "[30, 4]"});
    expect_mentions(refusal(OperatorKind::local, s.in, {.window = -1}), {"window", "-1"});
    expect_mentions(refusal(OperatorKind::local, s.in, {.window = 0, .outside_hidden = true}),
                    {"window"});
    s = make_sample({.kind = OperatorKind::conv2d, .window = 3});
    expect_mentions(refusal(OperatorKind::conv2d, s.in, {.grid_height = 4, .grid_width = 7}),
                    {"grid", "4x7", "[2, 30, 6]"});
    s = make_sample({.kind = OperatorKind::conv1d, .window = 4});
    expect_mentions(refusal(OperatorKind::conv1d, s.in, {}), {"w", "[2, 4]", "odd"});
    s.in.w = at::zeros({4, 3}, at::kDouble);
    expect_mentions(refusal(OperatorKind::conv1d, s.in, {}), {"w", "[4, 3]", "6 channels"});
    Inputs whole;
    whole.v = at::zeros({2, 3, 4}, at::kLong);
    expect_mentions(refusal(OperatorKind::simple, whole, {}), {"v", "Long", "float32"});
    EXPECT_THROW((void)parse_kind("lokal"), Error);
    EXPECT_THROW((void)parse_backend("gpu"), Error);
}

// What backward() of ours makes is no graph: to differentiate it again would be silently 0.
TEST(OpsErrors, second_gradients_are_refused) {
    for (const OperatorBackend backend : backends())
        for (const OpsCase& c : aft_cases()) {
            Sample s = make_sample(c);
            s.in = converted(s.in, at::kFloat);
            const at::Tensor v = s.in.v.requires_grad_();
            const auto first = [&](bool twice) {
                s.options.backend = backend;
                const at::Tensor y = apply(c.kind, s.in, s.options);
                return torch::autograd::grad({y.square().sum()}, {v}, {}, twice, twice)[0];
            };
            EXPECT_FALSE(first(false).requires_grad());
            std::string words;
            try {
                (void)torch::autograd::grad({first(true).square().sum()}, {v});
            } catch (const std::exception& error) {
                words = error.what();
            }
            expect_mentions(words, {"operators have no gradients of gradients"});
        }
}

}  // namespace
}  // namespace aft::ops::testing
