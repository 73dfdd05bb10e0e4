// aft-conv on the CPU backend against the reference: random grids, kernels and heads, any number of
// threads, long sequences, and what a value that is not finite reaches.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <limits>

#include "core/rng.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

// Grids narrower and wider than the register tiles (9 and 6) and than the kernels; one channel per
// head, a few, and more than a vector.
OpsCase random_convolution(uint64_t i) {
    CounterRng rng(43, i);
    const auto below = [&](int64_t n) { return rng.below(n); };
    const auto pick = [&](auto list) {
        return list[static_cast<size_t>(rng.below(4)) % list.size()];
    };
    OpsCase c;
    c.kind = pick(std::array{OperatorKind::conv1d, OperatorKind::conv2d});
    c.causal = below(2) == 0;
    c.batch = 1 + below(3);
    c.grid_width = 1 + below(26);
    c.length = c.kind == OperatorKind::conv2d ? c.grid_width * (1 + below(12)) : 1 + below(200);
    c.heads = 1 + below(pick(std::array<int64_t, 4>{2, 8, 20, 40}));
    c.dim = c.heads * (1 + below(pick(std::array<int64_t, 4>{1, 1, 4, 40})));
    c.window = 1 + 2 * below(pick(std::array<int64_t, 4>{2, 4, 8, 16}));
    if (c.kind == OperatorKind::conv1d && c.causal) c.window = 1 + below(60);
    c.key_scale = pick(std::array{0.3, 1.0, 3.0, 12.0});
    c.bias_scale = pick(std::array{0.1, 1.0, 3.0});
    c.seed = i + 1;
    sometimes_long(c, rng);
    return c;
}

std::string described(uint64_t i, const OpsCase& c) {
    return std::to_string(i) + ": " + describe(c) + " h=" + std::to_string(c.heads) +
           " width=" + std::to_string(c.grid_width);
}

TEST(OpsCpuConv, random_shapes) {
    const uint64_t count = random_count(120);
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(broken_promise(random_convolution(i)), "") << i;
}

// Of ten thousand random shapes those that missed the promise: averages near zero, for which e^K
// must not lose what rounding takes from its exponent; few numbers whose gradients cancel.
TEST(OpsCpuConv, regressions) {
    const OpsCase long_grid{.kind = OperatorKind::conv2d,
                            .batch = 1,
                            .length = 700,
                            .dim = 1,
                            .heads = 1,
                            .window = 1,
                            .grid_width = 4,
                            .bias_scale = 0.1,
                            .seed = 3508};
    EXPECT_EQ(broken_promise(long_grid), "");
    const OpsCase few{.kind = OperatorKind::conv2d,
                      .batch = 3,
                      .length = 3,
                      .dim = 1,
                      .heads = 1,
                      .window = 1,
                      .grid_width = 1,
                      .key_scale = 0.3,
                      .bias_scale = 3,
                      .seed = 9002};
    EXPECT_EQ(broken_promise(few), "");
    const OpsCase two{.kind = OperatorKind::conv2d,
                      .batch = 2,
                      .length = 2,
                      .dim = 2,
                      .window = 13,
                      .grid_width = 1,
                      .key_scale = 3,
                      .bias_scale = 0.1,
                      .seed = 1689};
    EXPECT_EQ(broken_promise(two), "");
    const OpsCase six{.kind = OperatorKind::conv1d,
                      .batch = 1,
                      .length = 6,
                      .dim = 27,
                      .heads = 1,
                      .window = 3,
                      .bias_scale = 3,
                      .seed = 942};
    EXPECT_EQ(broken_promise(six), "");
}

TEST(OpsCpuConv, same_bits_for_any_number_of_threads) {
    const int before = at::get_num_threads();
    for (uint64_t i = 0; i < 24; ++i) {
        const OpsCase c = random_convolution(1000 + i);
        const Sample sample = rounded(make_sample(c));
        at::set_num_threads(1);
        const Result one = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            const Result more = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
            EXPECT_TRUE(at::equal(one.y, more.y)) << described(i, c) << " " << threads;
            for (size_t g = 0; g < one.gradients.size(); ++g)
                EXPECT_TRUE(at::equal(one.gradients[g].second, more.gradients[g].second))
                    << one.gradients[g].first << " " << described(i, c) << " " << threads;
        }
    }
    at::set_num_threads(before);
}

// Keys, values and weights that only ordinary scaling meets: the exact path must not be needed.
TEST(OpsCpuConv, ordinary_data_take_the_fast_path) {
    for (const bool causal : {false, true})
        for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::conv2d}) {
            const OpsCase c{.kind = kind,
                            .causal = causal,
                            .length = 196,
                            .dim = 24,
                            .heads = 8,
                            .window = 11,
                            .grid_width = 14,
                            .key_scale = 2};
            const Sample sample = make_sample(c);
            const int64_t blocks = exact_blocks();
            (void)run(operator_of(OperatorBackend::cpu), kind, sample, at::kFloat);
            EXPECT_EQ(exact_blocks(), blocks) << describe(c);
        }
}

// More positions than are summed in float32 at a time. The truth is the tiled path in float64,
// whose memory does not grow with the square of the length.
TEST(OpsCpuConv, long_sequences) {
    for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::conv2d}) {
        const OpsCase c{.kind = kind,
                        .causal = kind == OperatorKind::conv1d,
                        .batch = 1,
                        .length = 9000,
                        .dim = 4,
                        .heads = 2,
                        .window = 9,
                        .grid_width = 90};
        const Sample sample = rounded(make_sample(c));
        const Result truth = run(operator_of(OperatorBackend::tiled), kind, sample, at::kDouble);
        const Result found = run(operator_of(OperatorBackend::cpu), kind, sample, at::kFloat);
        EXPECT_LE(forward_error(found, truth, sample), kForward) << describe(c);
        const GradientError g = gradient_error(found, truth, sample);
        EXPECT_LE(g.value, kGradient) << g.name << ", " << describe(c);
    }
}

// Causal: a NaN at position 20 reaches the rows from there on and the channels of its head.
TEST(OpsCpuConv, what_is_not_finite_reaches_who_sees_it) {
    for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::conv2d})
        for (const bool in_key : {false, true}) {
            const OpsCase c{
                .kind = kind, .causal = true, .length = 35, .window = 5, .grid_width = 7};
            Sample sample = make_sample(c);  // 2 samples, 6 channels, 2 heads
            const double size = sample.in.v.abs().max().item<double>();
            const at::Tensor clean = operator_of(OperatorBackend::cpu)(
                kind, converted(sample.in, at::kFloat), sample.options);
            (in_key ? sample.in.k : sample.in.v)[1][20][in_key ? 1 : 4] =
                std::numeric_limits<double>::quiet_NaN();
            const at::Tensor y = operator_of(OperatorBackend::cpu)(
                kind, converted(sample.in, at::kFloat), sample.options);
            at::Tensor expected = at::zeros_like(y).to(at::kBool);
            expected[1].narrow(0, 20, 15).narrow(1, in_key ? 3 : 4, in_key ? 3 : 1).fill_(true);
            EXPECT_TRUE(at::equal(y.isnan(), expected)) << kind_name(kind) << in_key;
            // Both add up 35 sources at most, beside a NaN in another order: gamma_35 each.
            EXPECT_LE(
                largest_difference(y.masked_fill(expected, 0), clean.masked_fill(expected, 0)),
                2 * 35 * 0x1p-24 * size);
        }
}

// The kernel of a model: rows that do not follow each other in memory.
TEST(OpsCpuConv, strided_inputs) {
    const OpsCase c{.kind = OperatorKind::conv2d, .length = 30, .window = 3};
    const Sample sample = rounded(make_sample(c));
    const Result whole = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
    Inputs in = converted(sample.in, at::kFloat);
    in.w = in.w.permute({1, 2, 0}).contiguous().permute({2, 0, 1});
    in.k = in.k.transpose(0, 1).contiguous().transpose(0, 1);
    in.v = in.v.transpose(1, 2).contiguous().transpose(1, 2);
    const at::Tensor y = operator_of(OperatorBackend::cpu)(c.kind, in, sample.options);
    EXPECT_TRUE(at::equal(y.to(at::kDouble), whole.y));
}

}  // namespace
}  // namespace aft::ops::testing
