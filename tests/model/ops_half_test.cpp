// Products of bfloat16 operands with sums in float32: odd shapes, threads, tensors stored in
// bfloat16, and that the rounding really happens where the processor can do it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "model/ops/cpu/half_kernels.h"
#include "ops_cases.h"

namespace aft::ops::testing {
namespace {

constexpr double kForward = 1e-2;

// Sizes around the tiles, the pairs of sources and the vectors; windows narrow and wide.
Case random_case(uint64_t i) {
    CounterRng rng(43, i);
    const auto below = [&](int64_t n) { return rng.below(n); };
    Case c;
    c.kind = below(3) == 0 ? Kind::full : Kind::local;
    c.causal = below(3) > 0;
    c.batch = 1 + below(3);
    c.length = below(4) == 0 ? 1 + below(8) : 2 + below(260);
    c.dim = 1 + below(70);
    c.window = 1 + below(c.length + 20);
    c.factors = below(2) == 0 ? 0 : 1 + below(20);
    c.outside_hidden = c.kind == Kind::local && below(4) == 0;
    c.seed = i + 1;
    return c;
}

Sample half_sample(const Case& c) {
    Sample sample = make_sample(c);
    sample.in = converted(converted(sample.in, at::kFloat), at::kDouble);
    sample.options.half_operands = true;
    return sample;
}

TEST(OpsHalf, random_shapes) {
    const Operator cpu = operator_of(Backend::cpu);
    double largest = 0;
    for (uint64_t i = 0; i < 80; ++i) {
        const Case c = random_case(i);
        const Sample sample = half_sample(c);
        const at::Tensor truth = oracle()(c.kind, sample.in, sample.options);
        const Result found{.y = evaluate(cpu, c.kind, sample), .gradients = {}};
        const double error = forward_error(found, {.y = truth, .gradients = {}}, sample);
        ASSERT_LE(error, kForward) << i << ": " << describe(c);
        largest = std::max(largest, error);
    }
    if (cpu::half_kernels() != nullptr)
        EXPECT_GE(largest, 1e-4) << "nothing was rounded";
    else
        EXPECT_LE(largest, 1e-5) << "without such products all is float32";
}

TEST(OpsHalf, same_bits_for_any_number_of_threads) {
    const Operator cpu = operator_of(Backend::cpu);
    const int before = at::get_num_threads();
    for (uint64_t i = 200; i < 212; ++i) {
        const Case c = random_case(i);
        const Sample sample = half_sample(c);
        at::set_num_threads(1);
        const at::Tensor one = evaluate(cpu, c.kind, sample);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            EXPECT_TRUE(at::equal(one, evaluate(cpu, c.kind, sample))) << describe(c);
        }
    }
    at::set_num_threads(before);
}

// Y and all gradients, in bfloat16 themselves, against float64 of the stored values.
TEST(OpsHalf, tensors_in_bfloat16) {
    for (const Kind kind : {Kind::full, Kind::local}) {
        Sample sample =
            make_sample({.kind = kind, .causal = true, .length = 150, .window = 20, .factors = 8});
        sample.in = converted(converted(sample.in, at::kBFloat16), at::kDouble);
        sample.dy = sample.dy.to(at::kBFloat16).to(at::kDouble);
        const Result truth = run(oracle(), kind, sample, at::kDouble);
        const Result found = run(operator_of(Backend::automatic), kind, sample, at::kBFloat16);
        EXPECT_LE(gradient_error(found, truth, sample).value, 6e-3);
        const at::Tensor y = operator_of(Backend::automatic)(
            kind, converted(sample.in, at::kBFloat16), sample.options);
        EXPECT_EQ(y.scalar_type(), at::kBFloat16);
        const Result alone{.y = y.to(at::kDouble), .gradients = {}};
        EXPECT_LE(forward_error(alone, truth, sample), kForward);
    }
}

// A row of w that is not a number reaches its target and no other.
TEST(OpsHalf, nan_stays_in_its_row) {
    for (const int64_t length : {7, 101}) {
        Sample sample = half_sample({.kind = Kind::full, .causal = true, .length = length});
        const Operator cpu = operator_of(Backend::cpu);
        sample.in.w = sample.in.w.clone();
        sample.in.w.select(0, 3).fill_(std::numeric_limits<double>::quiet_NaN());
        const at::Tensor bad = evaluate(cpu, Kind::full, sample).isnan();
        EXPECT_TRUE(bad.select(1, 3).all().item<bool>());
        EXPECT_EQ(bad.sum().item<int64_t>(), bad.select(1, 3).numel());
    }
}

}  // namespace
}  // namespace aft::ops::testing
