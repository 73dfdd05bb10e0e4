// The CPU backend's exact path: every entry made by it, and which entries it takes.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "model/ops/cpu/exact/exact.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

cpu::Call call_of(OperatorKind kind, const Sample& sample, at::ScalarType type) {
    cpu::Call call{.kind = kind, .options = sample.options, .in = converted(sample.in, at::kFloat)};
    for (at::Tensor* x : {&call.in.q, &call.in.k, &call.in.v}) *x = x->to(type);
    return call;
}

// Forward and gradient of all entries, dq aside.
Result exactly(OperatorKind kind, const Sample& sample, const Result& truth) {
    const cpu::Call call = call_of(kind, sample, at::kFloat);
    const at::Tensor& v = call.in.v;
    const cpu::BackendResult kept{.y = at::empty_like(v),
                                  .average = at::empty_like(v),
                                  .denominator = at::ones_like(call.in.k),
                                  .states = {}};
    cpu::compute_exactly(call, kept);
    const auto zero = [](const at::Tensor& x) {
        return x.defined() ? at::zeros_like(x) : at::Tensor();
    };
    cpu::Gradients g{.q = {},
                     .k = zero(call.in.k),
                     .v = zero(v),
                     .w = zero(call.in.w),
                     .u = zero(call.in.u),
                     .r = zero(call.in.r)};
    cpu::add_exact_gradient(call, kept, sample.dy.to(at::kFloat), g);
    Result out{.y = kept.y.to(at::kDouble), .gradients = {}};
    for (const auto& [name, g_true] : truth.gradients) {
        const at::Tensor found = name == "dq"   ? g_true
                                 : name == "dk" ? g.k
                                 : name == "dv" ? g.v
                                 : name == "dw" ? g.w
                                 : name == "du" ? g.u
                                                : g.r;
        out.gradients.emplace_back(name, found.to(at::kDouble));
    }
    return out;
}

// Chunks of 96 outside the windows, an end within a chunk, windows that reach across chunks.
std::vector<OpsCase> exact_cases() {
    std::vector<OpsCase> out;
    for (OpsCase c : aft_cases())
        for (const int64_t length : {30, 300}) {
            c.length = length;
            c.dim = 6;
            if (c.kind == OperatorKind::local) c.window = length == 300 ? 60 : 5;
            out.push_back(c);
        }
    return out;
}

TEST(OpsExact, every_entry_is_right) {
    for (OpsCase c : exact_cases())
        for (const double keys : {1.0, 40.0}) {
            c.key_scale = keys;
            c.bias_scale = keys == 1 ? 1 : 20;
            const Sample sample = rounded(make_sample(c));
            const Result truth = run(oracle(), c.kind, sample, at::kDouble);
            const Result found = exactly(c.kind, sample, truth);
            EXPECT_LE(forward_error(found, truth, sample), 1e-6) << keys << describe(c);
            const GradientError g = gradient_error(found, truth, sample);
            EXPECT_LE(g.value, 2e-6) << g.name << keys << describe(c);
        }
}

TEST(OpsExact, stored_in_bfloat16) {
    for (const OpsCase& c : exact_cases()) {
        Sample sample = make_sample(c);
        for (at::Tensor* x : {&sample.in.q, &sample.in.k, &sample.in.v})
            *x = x->to(at::kBFloat16).to(at::kDouble);
        sample = rounded(sample);
        const Result truth = run(oracle(), c.kind, sample, at::kDouble);
        const cpu::Call call = call_of(c.kind, sample, at::kBFloat16);
        const cpu::BackendResult made{
            .y = at::empty_like(call.in.v), .average = {}, .denominator = {}, .states = {}};
        cpu::compute_exactly(call, made);
        EXPECT_TRUE(at::equal(made.y, truth.y.to(at::kFloat).to(at::kBFloat16))) << describe(c);
    }
}

TEST(OpsExact, same_bits_for_any_number_of_threads) {
    const int before = at::get_num_threads();
    for (OpsCase c : exact_cases()) {
        c.key_scale = 30;
        const Sample sample = rounded(make_sample(c));
        const Result truth = run(oracle(), c.kind, sample, at::kDouble);
        at::set_num_threads(1);
        const Result one = exactly(c.kind, sample, truth);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            const Result more = exactly(c.kind, sample, truth);
            EXPECT_TRUE(at::equal(one.y, more.y)) << describe(c) << " " << threads;
            for (size_t g = 0; g < one.gradients.size(); ++g)
                EXPECT_TRUE(at::equal(one.gradients[g].second, more.gradients[g].second))
                    << one.gradients[g].first << describe(c) << " " << threads;
        }
    }
    at::set_num_threads(before);
}

// A key of 200 in one channel: of the rows before it those of its tile lose that channel, and
// nothing else is recomputed.
TEST(OpsExact, takes_only_what_is_not_safe) {
    const OpsCase c{
        .kind = OperatorKind::full, .causal = true, .batch = 2, .length = 200, .dim = 40};
    Sample sample = rounded(make_sample(c));
    const Operator cpu = operator_of(OperatorBackend::cpu);
    const at::Tensor before = evaluate(cpu, c.kind, sample);
    sample.in.k[1][150][33] = 200;
    const int64_t blocks = exact_blocks();
    const at::Tensor after = evaluate(cpu, c.kind, sample);
    EXPECT_EQ(exact_blocks() - blocks, 4);  // of 16 rows, from row 96 to row 149
    at::Tensor same = before.eq(after);
    EXPECT_TRUE(same[0].all().item<bool>());
    EXPECT_TRUE(same[1].narrow(1, 0, 33).all().item<bool>());
    EXPECT_TRUE(same[1].narrow(1, 34, 6).all().item<bool>());
    EXPECT_TRUE(same[1].select(1, 33).narrow(0, 0, 96).all().item<bool>());
    EXPECT_FALSE(same[1].select(1, 33).narrow(0, 96, 54).all().item<bool>());
    EXPECT_LE(largest_difference(after, run(oracle(), c.kind, sample, at::kDouble).y), 1e-5);
}

// The option is one of aft-local alone.
TEST(OpsExact, nothing_is_hidden_from_other_operators) {
    for (OpsCase c : exact_cases()) {
        if (c.kind == OperatorKind::local) continue;
        const Sample plain = rounded(make_sample(c));
        Sample asked = plain;
        asked.options.outside_hidden = true;
        const Result truth = run(oracle(), c.kind, plain, at::kDouble);
        EXPECT_TRUE(at::equal(exactly(c.kind, asked, truth).y, exactly(c.kind, plain, truth).y))
            << describe(c);
    }
}

// Chunks outside every window that hold infinite values, NaN, or keys that weigh nothing.
TEST(OpsExact, chunks_pass_on_what_is_not_finite) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const OpsCase c{
        .kind = OperatorKind::local, .causal = true, .batch = 1, .length = 400, .dim = 5};
    Sample sample = rounded(make_sample(c));
    sample.in.k[0][10][0] = std::nan("");
    sample.in.v[0][20][1] = inf;
    sample.in.k[0].select(1, 2).narrow(0, 0, 96).fill_(-inf);
    sample.in.k[0][99][3] = inf;
    sample.in.k[0].select(1, 4).narrow(0, 96, 96).fill_(-inf);
    sample.in.v[0][100][4] = inf;  // weighs nothing, and is seen
    const cpu::Call call = call_of(c.kind, sample, at::kFloat);
    const cpu::BackendResult made{
        .y = at::empty_like(call.in.v), .average = {}, .denominator = {}, .states = {}};
    cpu::compute_exactly(call, made);
    const at::Tensor bad = made.y[0].isnan();
    const int64_t first[] = {10, 20, -1, 99, 100};
    for (int64_t channel = 0; channel < 5; ++channel)
        for (int64_t t = 0; t < c.length; ++t) {
            const bool expected =
                channel == 2 ? t < 96 : first[channel] >= 0 && t >= first[channel];
            ASSERT_EQ(bad[t][channel].item<bool>(), expected) << channel << " " << t;
        }
}

}  // namespace
}  // namespace aft::ops::testing
