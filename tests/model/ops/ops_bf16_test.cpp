// Products of bfloat16 operands with sums in float32: odd shapes, threads, tensors stored in
// bfloat16, and that the rounding really happens where the processor can do it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>

#include "core/rng.h"
#include "model/ops/common/groups.h"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

constexpr double kBf16Error = 1e-2;

// Sizes around the tiles, the pairs of sources and the vectors; windows narrow and wide.
OpsCase random_bf16_case(uint64_t i) {
    CounterRng rng(43, i);
    const auto below = [&](int64_t n) { return rng.below(n); };
    OpsCase c;
    c.kind = below(3) == 0 ? OperatorKind::full : OperatorKind::local;
    c.causal = below(3) > 0;
    c.batch = 1 + below(3);
    c.length = below(4) == 0 ? 1 + below(8) : 2 + below(260);
    c.dim = 1 + below(70);
    c.window = 1 + below(c.length + 20);
    c.factors = below(2) == 0 ? 0 : 1 + below(20);
    c.outside_hidden = c.kind == OperatorKind::local && below(4) == 0;
    c.seed = i + 1;
    sometimes_long(c, rng);
    return c;
}

Sample bf16_sample(const OpsCase& c) {
    Sample sample = make_sample(c);
    sample.in = converted(converted(sample.in, at::kFloat), at::kDouble);
    sample.options.bf16_operands = true;
    return sample;
}

TEST(OpsBf16, random_shapes) {
    const Operator cpu = operator_of(OperatorBackend::cpu);
    double largest = 0;
    const uint64_t count = random_count(80);
    for (uint64_t i = 0; i < count; ++i) {
        const OpsCase c = random_bf16_case(i);
        const Sample sample = bf16_sample(c);
        const at::Tensor truth = oracle()(c.kind, sample.in, sample.options);
        const Result found{.y = evaluate(cpu, c.kind, sample), .gradients = {}};
        const double error = forward_error(found, {.y = truth, .gradients = {}}, sample);
        ASSERT_LE(error, kBf16Error) << i << ": " << describe(c);
        largest = std::max(largest, error);
    }
    if (cpu::bf16_kernels() != nullptr)
        EXPECT_GE(largest, 1e-4) << "nothing was rounded";
    else
        EXPECT_LE(largest, 1e-5) << "without such products all is float32";
}

TEST(OpsBf16, same_bits_for_any_number_of_threads) {
    const Operator cpu = operator_of(OperatorBackend::cpu);
    const int before = at::get_num_threads();
    for (uint64_t i = 200; i < 212; ++i) {
        const OpsCase c = random_bf16_case(i);
        const Sample sample = bf16_sample(c);
        at::set_num_threads(1);
        const at::Tensor one = evaluate(cpu, c.kind, sample);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            EXPECT_TRUE(at::equal(one, evaluate(cpu, c.kind, sample))) << describe(c);
        }
    }
    at::set_num_threads(before);
}

OpsCase stored_case(uint64_t i) {
    constexpr std::array kKinds{OperatorKind::simple, OperatorKind::full, OperatorKind::local,
                                OperatorKind::conv1d, OperatorKind::conv2d};
    CounterRng rng(47, i);
    const auto below = [&](int64_t n) { return rng.below(n); };
    OpsCase c{.kind = kKinds[i % kKinds.size()], .causal = below(2) == 0};
    c.batch = 1 + below(3);
    c.grid_width = 2 + below(9);
    c.length = c.kind == OperatorKind::conv2d ? c.grid_width * (2 + below(9)) : 2 + below(200);
    c.heads = 1 + below(6);
    c.dim = is_convolution(c.kind) ? c.heads * (1 + below(12)) : 1 + below(70);
    c.window = is_convolution(c.kind) ? 1 + 2 * below(4) : 1 + below(c.length);
    c.factors = below(2) == 0 ? 0 : 1 + below(20);
    c.seed = i + 1;
    sometimes_long(c, rng);
    return c;
}

Sample stored_sample(const OpsCase& c) {
    Sample sample = make_sample(c);
    sample.in = converted(converted(sample.in, at::kBFloat16), at::kDouble);
    sample.dy = sample.dy.to(at::kBFloat16).to(at::kDouble);
    return sample;
}

// Y and all gradients, in bfloat16 themselves, against float64 of the stored values.
TEST(OpsBf16, tensors_in_bfloat16) {
    const Operator cpu = operator_of(OperatorBackend::cpu);
    const uint64_t count = random_count(100);
    for (uint64_t i = 0; i < count; ++i) {
        const OpsCase c = stored_case(i);
        const Sample sample = stored_sample(c);
        const Result truth = run(oracle(), c.kind, sample, at::kDouble);
        const Result found = run(cpu, c.kind, sample, at::kBFloat16);
        const GradientError g = gradient_error(found, truth, sample);
        ASSERT_LE(g.value, 6e-3) << g.name << ", " << i << ": " << describe(c);
        const at::Tensor y = cpu(c.kind, converted(sample.in, at::kBFloat16), sample.options);
        EXPECT_EQ(y.scalar_type(), at::kBFloat16);
        const Result alone{.y = y.to(at::kDouble), .gradients = {}};
        ASSERT_LE(forward_error(alone, truth, sample), kBf16Error) << i << ": " << describe(c);
        ASSERT_LE(forward_error(found, truth, sample), kBf16Error) << i << ": " << describe(c);
    }
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
    return at::equal(a.contiguous().view(at::kShort), b.contiguous().view(at::kShort));
}

// Y and the gradients of Q, K and V of aft-simple.
std::vector<at::Tensor> simple_results(const Inputs& in, const Sample& sample) {
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& x : {in.q, in.k, in.v})
        leaves.push_back(x.detach().clone().requires_grad_(true));
    const Inputs own{.q = leaves[0], .k = leaves[1], .v = leaves[2], .w = {}, .u = {}, .r = {}};
    const at::Tensor y = apply(OperatorKind::simple, own, sample.options);
    y.backward(sample.dy.to(y.scalar_type()));
    std::vector<at::Tensor> out{y.detach()};
    for (const at::Tensor& x : leaves) out.push_back(x.grad());
    return out;
}

// Where there are gradients, reading and writing bfloat16 changes nothing but the last rounding:
// widening is exact, and Y and the gradients of aft-simple are those of float32, rounded to the
// nearest, ties to even; what is below 2^-126 may become 0. The largest are written past the
// caches.
TEST(OpsBf16, simple_is_float32_rounded_once) {
    struct Size {
        int64_t batch, length, dim;
    };
    for (const bool causal : {true, false})
        for (const Size& size : {Size{2, 1, 5}, Size{3, 7, 16}, Size{2, 33, 64}, Size{1, 1100, 40},
                                 Size{3, 1400, 512}, Size{3, 1400, 520}, Size{1, 4200, 512}}) {
            const OpsCase c{.kind = OperatorKind::simple,
                            .causal = causal,
                            .batch = size.batch,
                            .length = size.length,
                            .dim = size.dim};
            Sample sample = stored_sample(c);
            sample.in.k = sample.in.k * 64;  // spread, and as exact as before
            const Inputs bf16 = converted(sample.in, at::kBFloat16);
            const std::vector<at::Tensor> found = simple_results(bf16, sample),
                                          wide =
                                              simple_results(converted(bf16, at::kFloat), sample);
            for (size_t i = 0; i < found.size(); ++i) {
                const at::Tensor tiny = wide[i].abs().lt(0x1p-126);
                const at::Tensor rounded = wide[i].masked_fill(tiny, 0).to(at::kBFloat16);
                EXPECT_TRUE(same_bits(found[i].masked_fill(tiny, 0), rounded))
                    << i << ": " << describe(c);
                EXPECT_FALSE(found[i].abs().gt(0x1p-125).logical_and(tiny).any().item<bool>());
            }
        }
}

// NaN, whatever its bits, stays NaN in the rows that see it and reaches no other; infinity too.
TEST(OpsBf16, stored_nan_reaches_its_rows) {
    for (const int16_t bits : {int16_t{0x7f81}, int16_t{-1}, int16_t{0x7fc0}, int16_t{0x7f80}})
        for (const int64_t dim : {3, 32}) {
            const OpsCase c{.kind = OperatorKind::simple, .causal = true, .length = 40, .dim = dim};
            Inputs in = converted(stored_sample(c).in, at::kBFloat16);
            in.v = in.v.contiguous().clone();
            in.v.view(at::kShort).select(1, 17).fill_(bits);
            const at::Tensor good = apply(c.kind, in, {.causal = true}).isfinite();
            EXPECT_TRUE(good.narrow(1, 0, 17).all().item<bool>()) << bits << " " << dim;
            EXPECT_FALSE(good.narrow(1, 17, 23).any().item<bool>()) << bits << " " << dim;
        }
}

// A gate that is not a number stays so from the kernel to the result, in its row alone.
TEST(OpsBf16, stored_nan_of_a_gate) {
    for (const OperatorKind kind : {OperatorKind::simple, OperatorKind::full, OperatorKind::conv1d})
        for (const int16_t bits : {int16_t{0x7f81}, int16_t{-1}, int16_t{0x7fc0}}) {
            const OpsCase c{.kind = kind, .causal = true, .length = 40, .dim = 32};
            const Sample sample = stored_sample(c);
            Inputs in = converted(sample.in, at::kBFloat16);
            in.q = in.q.contiguous().clone();
            in.q.view(at::kShort).select(1, 17).fill_(bits);
            const at::Tensor bad = apply(kind, in, sample.options).isnan();
            EXPECT_TRUE(bad.select(1, 17).all().item<bool>()) << bits << " " << describe(c);
            EXPECT_EQ(bad.sum().item<int64_t>(), bad.select(1, 17).numel()) << describe(c);
        }
}

// Sums that overflow go the exact path: gates that are almost shut keep their slope.
TEST(OpsBf16, stored_gates_on_the_exact_path) {
    const OpsCase c{.kind = OperatorKind::simple, .causal = true, .length = 8, .dim = 4};
    Sample sample = stored_sample(c);
    sample.in.k.zero_();
    sample.in.v = ((sample.in.v.sigmoid() + 0.5) * 1e38).to(at::kBFloat16).to(at::kDouble);
    for (const double gate : {6.0, 8.0, -6.0}) {
        sample.in.q.fill_(gate);
        const Result truth = run(oracle(), c.kind, sample, at::kDouble);
        const Result found = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kBFloat16);
        const GradientError g = gradient_error(found, truth, sample);
        EXPECT_LE(g.value, 6e-3) << g.name << " " << gate;
    }
}

// Where safe and exact targets of one source cancel, a rounding in between would stay.
TEST(OpsBf16, stored_sums_of_safe_and_exact_targets) {
    const OpsCase c{.kind = OperatorKind::full, .causal = false, .batch = 1, .length = 3, .dim = 1};
    Sample sample = make_sample(c);
    const auto put = [](at::Tensor& x, std::vector<double> values) {
        x = at::tensor(values, at::kDouble).reshape(x.sizes());
    };
    put(sample.in.k, {0, 34.75, -34.75});
    put(sample.in.v, {0, 1, -1});
    put(sample.in.q, {1, 1, 0});
    put(sample.in.w, {0, -69.3, 0, -13.9, -76, 0, 0, 0, 0});
    put(sample.dy, {1, -0.9921875, 0});
    sample.in.w = sample.in.w.to(at::kBFloat16).to(at::kDouble);
    const Result truth = run(oracle(), c.kind, sample, at::kDouble);
    const Result found = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kBFloat16);
    const GradientError g = gradient_error(found, truth, sample);
    EXPECT_LE(g.value, 6e-3) << g.name;
}

TEST(OpsBf16, stored_same_bits_for_any_number_of_threads) {
    const Operator cpu = operator_of(OperatorBackend::cpu);
    const int before = at::get_num_threads();
    for (uint64_t i = 200; i < 215; ++i) {
        const OpsCase c = stored_case(i);
        const Sample sample = stored_sample(c);
        const Inputs stored = converted(sample.in, at::kBFloat16);
        at::set_num_threads(1);
        const at::Tensor alone = cpu(c.kind, stored, sample.options);
        const Result one = run(cpu, c.kind, sample, at::kBFloat16);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            EXPECT_TRUE(same_bits(alone, cpu(c.kind, stored, sample.options))) << describe(c);
            const Result more = run(cpu, c.kind, sample, at::kBFloat16);
            EXPECT_TRUE(at::equal(one.y, more.y)) << describe(c);
            for (size_t g = 0; g < one.gradients.size(); ++g)
                EXPECT_TRUE(at::equal(one.gradients[g].second, more.gradients[g].second))
                    << one.gradients[g].first << describe(c);
        }
    }
    at::set_num_threads(before);
}

// A row of w that is not a number reaches its target and no other.
TEST(OpsBf16, nan_stays_in_its_row) {
    for (const int64_t length : {7, 101}) {
        Sample sample = bf16_sample({.kind = OperatorKind::full, .causal = true, .length = length});
        const Operator cpu = operator_of(OperatorBackend::cpu);
        sample.in.w = sample.in.w.clone();
        sample.in.w.select(0, 3).fill_(std::numeric_limits<double>::quiet_NaN());
        const at::Tensor bad = evaluate(cpu, OperatorKind::full, sample).isnan();
        EXPECT_TRUE(bad.select(1, 3).all().item<bool>());
        EXPECT_EQ(bad.sum().item<int64_t>(), bad.select(1, 3).numel());
    }
}

}  // namespace
}  // namespace aft::ops::testing
