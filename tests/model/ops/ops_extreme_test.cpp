// Accuracy: float32 backends against the float64 reference, on ordinary input, on the six extreme
// cases (keys up to +-100, saw-teeth, spikes hidden by w = -50), on biases as training makes them,
// and on single numbers far below the promised range. Forward 1e-5 of max|V|, gradients 2e-5
// relative L2.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

at::Tensor spread_over(const at::Tensor& like, double scale) {
    return (at::rand_like(like) * 2 - 1) * scale;
}

struct Extreme {
    const char* name;
    void (*shape)(Sample&);
};

void scale_keys(Sample& s, double keys) {
    s.in.k = s.in.k * keys;
}
void scale_bias(Sample& s, double bias) {
    if (s.in.w.defined()) s.in.w = s.in.w * bias;
    for (at::Tensor* x : {&s.in.u, &s.in.r})
        if (x->defined()) *x = *x * std::sqrt(bias);
}
void uniform_bias(Sample& s, double size) {
    if (s.in.w.defined()) s.in.w = spread_over(s.in.w, size);
    const double factor = s.in.u.defined() ? std::sqrt(size / s.in.u.size(1)) : 0;
    for (at::Tensor* x : {&s.in.u, &s.in.r})
        if (x->defined()) *x = spread_over(*x, factor);
}
// Every 37th key stands out by `height`; w = -50 on it (kernels: on a third of the taps).
void hidden_spikes(Sample& s, double height) {
    s.in.k = s.in.k.clone();
    for (int64_t j = 5; j < s.in.k.size(1); j += 37) s.in.k.select(1, j).fill_(height);
    if (s.in.u.defined()) {  // the first factor column carries the spikes
        s.in.u.select(1, 0).fill_(1);
        s.in.r.select(1, 0).zero_();
        for (int64_t j = 5; j < s.in.r.size(0); j += 37)
            s.in.r.select(0, j).select(0, 0).fill_(-50);
    } else if (s.in.w.defined() && s.in.w.size(0) == s.in.k.size(1)) {
        for (int64_t j = 5; j < s.in.k.size(1); j += 37) s.in.w.select(1, j).fill_(-50);
    } else if (s.in.w.defined()) {
        at::Tensor taps = s.in.w.view({s.in.w.size(0), -1});
        for (int64_t o = 1; o < taps.size(1); o += 3) taps.select(1, o).fill_(-50);
    }
}
void saw_tooth(Sample& s) {
    const at::Tensor j = at::arange(s.in.k.size(1), at::kDouble);
    const at::Tensor saw = j.remainder(32) * (200.0 / 31) - 100;
    s.in.k = saw.view({1, -1, 1}).expand_as(s.in.k).clone();
    uniform_bias(s, 50);
}
// A seventh of the keys and biases (of the factors' sources, of the taps) lie anywhere from -1000
// down to the lowest number of float32, beside others that do not.
at::Tensor with_abysses(const at::Tensor& x) {
    const at::Tensor deep =
        (-at::pow(10, 3 + 35.53 * at::rand_like(x))).clamp_min(-std::numeric_limits<float>::max());
    return at::where(at::rand_like(x) < 1.0 / 7, deep, x);
}
void abysses(Sample& s) {
    s.in.k = with_abysses(s.in.k);
    if (s.in.w.defined()) s.in.w = with_abysses(s.in.w);
    if (!s.in.u.defined()) return;
    s.in.u.select(1, 0).fill_(1);
    s.in.r.select(1, 0).copy_(with_abysses(at::zeros_like(s.in.r.select(1, 0))));
}

const std::vector<Extreme>& extremes() {
    static const std::vector<Extreme> list{
        {"K~N, w~0.1N", [](Sample& s) { scale_bias(s, 0.1); }},
        {"K~3N, w~2N", [](Sample& s) { scale_keys(s, 3), scale_bias(s, 2); }},
        {"K in +-100, w in +-50",
         [](Sample& s) { s.in.k = spread_over(s.in.k, 100), uniform_bias(s, 50); }},
        {"K saw-tooth", saw_tooth},
        {"K=100 spikes under w=-50", [](Sample& s) { hidden_spikes(s, 100); }},
        {"w=-50 hides K=30 spikes", [](Sample& s) { hidden_spikes(s, 30); }},
        {"trained: w up to 724, K spread 60",
         [](Sample& s) { scale_keys(s, 15), uniform_bias(s, 724); }},
        {"|w|, |K| up to 1000",
         [](Sample& s) { s.in.k = spread_over(s.in.k, 1000), uniform_bias(s, 1000); }},
        {"a seventh below -1000", abysses},
        {"the same beside +-1000",
         [](Sample& s) { s.in.k = spread_over(s.in.k, 1000), uniform_bias(s, 1000), abysses(s); }}};
    return list;
}

std::vector<OpsCase> cases() {
    std::vector<OpsCase> out;
    for (OpsCase c : aft_cases()) {
        c.length = 200;
        c.grid_width = 20;
        c.dim = 8;
        c.window = c.kind == OperatorKind::local ? 40 : c.kind == OperatorKind::conv2d ? 5 : 11;
        c.factors *= 2;
        out.push_back(c);
    }
    return out;
}

class OpsPromise : public ::testing::TestWithParam<OperatorBackend> {};

TEST_P(OpsPromise, float32_keeps_the_promise) {
    for (const Extreme& extreme : extremes()) {
        double forward = 0, gradient = 0;
        for (const OpsCase& c : cases()) {
            Sample sample = make_sample(c);
            extreme.shape(sample);
            sample = rounded(sample);
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            const Result found = run(operator_of(GetParam(), 32), c.kind, sample, at::kFloat);
            const double f = forward_error(found, truth, sample);
            const GradientError g = gradient_error(found, truth, sample);
            EXPECT_LE(f, kForward) << extreme.name << ", " << describe(c);
            EXPECT_LE(g.value, kGradient) << g.name << ", " << extreme.name << ", " << describe(c);
            forward = std::max(forward, f);
            gradient = std::max(gradient, g.value);
        }
        fmt::print("{:34} forward {:.1e} gradients {:.1e}\n", extreme.name, forward, gradient);
    }
}

// Operands of the products in bfloat16: 1e-2 forward; gradients 6e-3 on ordinary input, else 3e-2.
TEST(OpsAccuracy, bf16_operands) {
    for (std::size_t i = 0; i < extremes().size(); ++i) {
        double forward = 0, gradient = 0;
        for (const OpsCase& c : cases()) {
            if (c.kind != OperatorKind::full && c.kind != OperatorKind::local) continue;
            Sample sample = make_sample(c);
            extremes()[i].shape(sample);
            sample = rounded(sample);
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            sample.options.bf16_operands = true;
            const Operator cpu = operator_of(OperatorBackend::cpu);  // without gradients, then with
            const Result alone{.y = evaluate(cpu, c.kind, sample), .gradients = {}};
            const double f = forward_error(alone, truth, sample);
            const GradientError g =
                gradient_error(run(cpu, c.kind, sample, at::kFloat), truth, sample);
            EXPECT_LE(f, 1e-2) << extremes()[i].name << ", " << describe(c);
            EXPECT_LE(g.value, i < 2 ? 6e-3 : 3e-2)
                << g.name << ", " << extremes()[i].name << ", " << describe(c);
            forward = std::max(forward, f);
            gradient = std::max(gradient, g.value);
        }
        fmt::print("{:34} forward {:.1e} gradients {:.1e}\n", extremes()[i].name, forward,
                   gradient);
    }
}

// Tensors stored in bfloat16, the truth of what is stored: the same limits.
TEST(OpsAccuracy, stored_bf16_operands) {
    const Operator cpu = operator_of(OperatorBackend::cpu);
    for (std::size_t i = 0; i < extremes().size(); ++i)
        for (const OpsCase& c : cases()) {
            Sample sample = make_sample(c);
            extremes()[i].shape(sample);
            sample.in = converted(converted(sample.in, at::kBFloat16), at::kDouble);
            sample.dy = sample.dy.to(at::kBFloat16).to(at::kDouble);
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            const Result found = run(cpu, c.kind, sample, at::kBFloat16);
            const GradientError g = gradient_error(found, truth, sample);
            const at::Tensor y = cpu(c.kind, converted(sample.in, at::kBFloat16), sample.options);
            const Result alone{.y = y.to(at::kDouble), .gradients = {}};  // its own products
            EXPECT_LE(forward_error(alone, truth, sample), 1e-2)
                << extremes()[i].name << ", " << describe(c);
            EXPECT_LE(forward_error(found, truth, sample), 1e-2)
                << extremes()[i].name << ", " << describe(c);
            EXPECT_LE(g.value, i < 2 ? 6e-3 : 3e-2)
                << g.name << ", " << extremes()[i].name << ", " << describe(c);
        }
}

// The reference itself against the definition in long double.
TEST(OpsAccuracy, reference_is_the_definition) {
    for (const Extreme& extreme : extremes())
        for (OpsCase c : cases()) {
            c.length = 60;
            Sample sample = make_sample(c);
            extreme.shape(sample);
            const Result found =
                run(operator_of(OperatorBackend::reference), c.kind, sample, at::kDouble);
            const Result truth{.y = definition(c.kind, sample), .gradients = {}};
            EXPECT_LE(forward_error(found, truth, sample), 1e-12) << extreme.name << describe(c);
        }
}

TEST(OpsAccuracy, tiled_float64) {
    for (const Extreme& extreme : extremes())
        for (const OpsCase& c : cases()) {
            Sample sample = make_sample(c);
            extreme.shape(sample);
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            const Result found =
                run(operator_of(OperatorBackend::tiled, 32), c.kind, sample, at::kDouble);
            EXPECT_LE(forward_error(found, truth, sample), 1e-12) << extreme.name << describe(c);
            EXPECT_LE(gradient_error(found, truth, sample).value, 1e-9)
                << extreme.name << describe(c);
        }
}

// Loss scales far from 1 must not underflow or overflow inside.
TEST_P(OpsPromise, any_loss_scale) {
    for (const double scale : {1e-30, 1e30})
        for (const OpsCase& c : aft_cases()) {
            Sample sample = rounded(make_sample(c));
            sample.dy = (sample.dy * scale).to(at::kFloat).to(at::kDouble);
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            const Result found = run(operator_of(GetParam(), 8), c.kind, sample, at::kFloat);
            EXPECT_LE(gradient_error(found, truth, sample).value, kGradient)
                << scale << ", " << describe(c);
        }
}

// Values near the end of float32 stay finite.
TEST_P(OpsPromise, huge_values_stay_finite) {
    for (const OpsCase& c : aft_cases()) {
        Sample sample = make_sample(c);
        sample.in.v = spread_over(sample.in.v, 3e38);
        sample.dy = sample.dy * 1e-38;
        scale_keys(sample, 20);
        sample = rounded(sample);
        const Result truth = run(oracle(), c.kind, sample, at::kDouble);
        const Result found = run(operator_of(GetParam(), 8), c.kind, sample, at::kFloat);
        EXPECT_LE(forward_error(found, truth, sample), kForward) << describe(c);
        for (const auto& [name, g] : found.gradients)
            EXPECT_TRUE(g.isfinite().all().item<bool>()) << name << ", " << describe(c);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, OpsPromise,
                         ::testing::Values(OperatorBackend::reference, OperatorBackend::tiled,
                                           OperatorBackend::automatic),
                         [](const auto& which) {
                             if (which.param == OperatorBackend::automatic) return "automatic";
                             return which.param == OperatorBackend::tiled ? "tiled" : "reference";
                         });

}  // namespace
}  // namespace aft::ops::testing
