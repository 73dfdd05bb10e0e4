// The CPU backend against the reference: random shapes, any number of threads, and what it refuses.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>

#include "core/check.h"
#include "core/environment.h"
#include "core/rng.h"
#include "model/ops/cpu/cpu.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

// Odd sizes around the tiles (96), the steps (24), the register rows (6) and the vectors.
OpsCase random_case(uint64_t i) {
    CounterRng rng(41, i);
    const auto below = [&](int64_t n) { return rng.below(n); };
    const auto pick = [&](auto list) {
        return list[static_cast<size_t>(rng.below(4)) % list.size()];
    };
    OpsCase c;
    c.kind = pick(std::array{OperatorKind::simple, OperatorKind::full, OperatorKind::local,
                             OperatorKind::local});
    c.causal = below(3) > 0;
    c.batch = 1 + below(3);
    c.length = below(4) == 0 ? 2 + below(8) : 2 + below(260);
    c.dim = 1 + below(70);
    c.window = 1 + below(c.length + 20);
    c.factors = below(2) == 0 ? 0 : 1 + below(20);
    c.outside_hidden = c.kind == OperatorKind::local && below(4) == 0;
    c.key_scale = pick(std::array{0.3, 1.0, 3.0, 12.0});
    c.bias_scale = pick(std::array{0.1, 1.0, 3.0});
    c.seed = i + 1;
    sometimes_long(c, rng);
    return c;
}

TEST(OpsCpu, random_shapes) {
    const uint64_t count = random_count(120);
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(broken_promise(random_case(i)), "") << i;
}

// Of ten thousand random shapes those that missed the promise: a window of 671 sources summed in
// one go; four positions whose gradients cancel.
TEST(OpsCpu, regressions) {
    const OpsCase wide{.kind = OperatorKind::local,
                       .batch = 1,
                       .length = 810,
                       .dim = 2,
                       .window = 671,
                       .factors = 18,
                       .key_scale = 12,
                       .seed = 6424};
    EXPECT_EQ(broken_promise(wide), "");
    const OpsCase few{.kind = OperatorKind::local,
                      .causal = true,
                      .batch = 1,
                      .length = 4,
                      .dim = 55,
                      .window = 18,
                      .outside_hidden = true,
                      .key_scale = 0.3,
                      .bias_scale = 3,
                      .seed = 5840};
    EXPECT_EQ(broken_promise(few), "");
}

TEST(OpsCpu, is_chosen) {
    const std::string asked = variable("AFTERIMAGE_CPU");
    if (!asked.empty())
        EXPECT_EQ(cpu::instruction_set(), asked);
    else
        EXPECT_NE(std::string("amx avx512_bf16 avx512 avx2 portable").find(cpu::instruction_set()),
                  std::string::npos);
}

TEST(OpsCpu, same_bits_for_any_number_of_threads) {
    const int before = at::get_num_threads();
    for (uint64_t i = 0; i < 24; ++i) {
        const OpsCase c = random_case(1000 + i);
        const Sample sample = rounded(make_sample(c));
        at::set_num_threads(1);
        const Result one = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            const Result more = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
            EXPECT_TRUE(at::equal(one.y, more.y)) << describe(c) << " " << threads;
            for (size_t g = 0; g < one.gradients.size(); ++g)
                EXPECT_TRUE(at::equal(one.gradients[g].second, more.gradients[g].second))
                    << one.gradients[g].first << describe(c) << " " << threads;
        }
    }
    at::set_num_threads(before);
}

// One token: Y = sigmoid(Q) V whatever K and w are, and neither of them has a gradient.
TEST(OpsCpu, one_token) {
    for (const OperatorKind kind :
         {OperatorKind::simple, OperatorKind::full, OperatorKind::local}) {
        const OpsCase c{.kind = kind, .causal = true, .batch = 3, .length = 1, .dim = 37};
        const Sample sample = rounded(make_sample(c));
        const Result found = run(operator_of(OperatorBackend::cpu), kind, sample, at::kFloat);
        const at::Tensor y = sample.in.q.sigmoid() * sample.in.v;
        const double size = sample.in.v.abs().max().item<double>();
        EXPECT_LE(largest_difference(found.y, y), kFewSources * size) << describe(c);
        for (const auto& [name, g] : found.gradients) {
            if (name == "dq" || name == "dv") continue;
            EXPECT_LE(g.abs().max().item<double>(), 1e-5) << name << describe(c);
        }
    }
}

// The table of a longer model: rows of w that do not follow each other in memory.
TEST(OpsCpu, part_of_a_larger_table) {
    const OpsCase c{.kind = OperatorKind::full, .causal = true, .length = 50};
    Sample sample = rounded(make_sample(c));
    const Result whole = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
    const at::Tensor table = at::randn({70, 90}, at::kDouble);
    table.narrow(0, 0, 50).narrow(1, 0, 50).copy_(sample.in.w);
    Inputs in = converted(sample.in, at::kFloat);
    in.w = table.to(at::kFloat).narrow(0, 0, 50).narrow(1, 0, 50);
    const at::Tensor y = operator_of(OperatorBackend::cpu)(c.kind, in, sample.options);
    EXPECT_TRUE(at::equal(y.to(at::kDouble), whole.y));
}

TEST(OpsCpu, says_what_it_cannot_do) {
    const auto refusal = [](OperatorKind kind, at::ScalarType type) -> std::string {
        const Sample sample = make_sample({.kind = kind});
        try {
            (void)operator_of(OperatorBackend::cpu)(kind, converted(sample.in, type),
                                                    sample.options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refusal(OperatorKind::softmax, at::kFloat).find("softmax"), std::string::npos);
    EXPECT_NE(refusal(OperatorKind::full, at::kDouble).find("float32 and bfloat16 only"),
              std::string::npos);
    EXPECT_EQ(refusal(OperatorKind::full, at::kFloat), "");
}

}  // namespace
}  // namespace aft::ops::testing
