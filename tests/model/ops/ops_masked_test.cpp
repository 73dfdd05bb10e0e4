// w = -inf: exp(w) = 0, so the source is hidden from its target, in every backend as by the
// definition; a target without any source is NaN, and no other is.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

constexpr double kMaskedPair = -std::numeric_limits<double>::infinity();

// Which pairs are hidden, [T, T]; every target keeps itself.
struct Mask {
    const char* name;
    at::Tensor (*of)(int64_t T);
};
const std::vector<Mask>& masks() {
    static const std::vector<Mask> list{
        {"scattered", [](int64_t T) { return at::rand({T, T}) < 0.3; }},
        {"nearly all", [](int64_t T) { return at::rand({T, T}) < 0.97; }},
        {"whole blocks",
         [](int64_t T) {
             at::Tensor out = at::zeros({T, T}, at::kBool);
             for (int64_t t = 0; t < T; t += 64)
                 for (int64_t j = (t / 64) % 2 * 64; j < T; j += 128)
                     out.narrow(0, t, std::min<int64_t>(64, T - t))
                         .narrow(1, j, std::min<int64_t>(64, T - j))
                         .fill_(true);
             return out;
         }},
        {"the future", [](int64_t T) { return at::ones({T, T}, at::kBool).triu(1); }},
    };
    return list;
}

Sample masked(const OpsCase& c, const Mask& mask) {
    Sample sample = make_sample(c);
    at::manual_seed(c.seed + 1);
    const at::Tensor hidden = mask.of(c.length);
    hidden.fill_diagonal_(false);
    sample.in.w.masked_fill_(hidden, kMaskedPair);
    return rounded(sample);
}

std::vector<OpsCase> masked_cases() {
    std::vector<OpsCase> out;
    for (const bool causal : {false, true})
        for (const int64_t length : {40, 130})
            for (const int64_t dim : {9}) {
                const OpsCase full{.causal = causal, .length = length, .dim = dim};
                out.push_back(full);
                for (const bool hidden : {false, true}) {
                    OpsCase local = full;
                    local.kind = OperatorKind::local;
                    local.window = 25;
                    local.outside_hidden = hidden;
                    out.push_back(local);
                }
            }
    OpsCase far{.causal = true, .length = 130, .dim = 9};  // the exact path
    far.key_scale = far.bias_scale = 300;
    out.push_back(far);
    return out;
}

TEST(OpsMasked, HiddenSourcesWeighNothingInEveryBackend) {
    for (const OpsCase& c : masked_cases())
        for (const Mask& mask : masks()) {
            const Sample sample = masked(c, mask);
            Result truth = run(oracle(), c.kind, sample, at::kDouble);
            truth.y = definition(c.kind, sample);  // nothing shared with the backends
            for (const OperatorBackend backend :
                 {OperatorBackend::cpu, OperatorBackend::tiled, OperatorBackend::reference}) {
                SCOPED_TRACE(fmt::format("{} {} backend {}", describe(c), mask.name,
                                         static_cast<int>(backend)));
                const Result found = run(operator_of(backend), c.kind, sample, at::kFloat);
                EXPECT_LE(forward_error(found, truth, sample), kForward);
                const GradientError g = gradient_error(found, truth, sample);
                EXPECT_LE(g.value, kGradient) << g.name;
                for (const auto& [name, gradient] : found.gradients)
                    if (name == "dw") {
                        const at::Tensor of_hidden = gradient.masked_select(sample.in.w.isneginf());
                        EXPECT_TRUE(of_hidden.eq(0).all().item<bool>());
                    }
            }
        }
}

// What is hidden may be anything.
TEST(OpsMasked, HiddenSourcesMayHoldNan) {
    for (const bool causal : {false, true}) {
        OpsCase c{.causal = causal, .length = 90, .dim = 7};
        Sample sample = make_sample(c);
        sample.in.w.select(1, 20).fill_(kMaskedPair);
        sample.in.w[20][20] = 0;
        const at::Tensor truth = definition(c.kind, sample);
        sample.in.k.select(1, 20).fill_(NAN);
        sample.in.v.select(1, 20).fill_(NAN);
        for (const OperatorBackend backend : {OperatorBackend::cpu, OperatorBackend::tiled}) {
            const at::Tensor y = evaluate(operator_of(backend), c.kind, sample).to(at::kDouble);
            EXPECT_TRUE(y.select(1, 20).isnan().all().item<bool>());
            for (const int64_t t : {0, 19, 21, 89})
                EXPECT_LE(largest_difference(y.select(1, t), truth.select(1, t)), 1e-4) << t;
        }
    }
}

TEST(OpsMasked, ATargetWithoutASourceIsNanAndNoOtherIs) {
    for (const OperatorKind kind : {OperatorKind::full, OperatorKind::local})
        for (const bool causal : {false, true}) {
            OpsCase c{.kind = kind, .causal = causal, .length = 90, .dim = 7, .window = 100};
            Sample sample = make_sample(c);
            sample.in.w.select(0, 17).fill_(kMaskedPair);
            for (const OperatorBackend backend :
                 {OperatorBackend::cpu, OperatorBackend::tiled, OperatorBackend::reference}) {
                SCOPED_TRACE(fmt::format("{} backend {}", describe(c), static_cast<int>(backend)));
                const at::Tensor y = evaluate(operator_of(backend), kind, sample);
                const at::Tensor bad = y.isnan();
                EXPECT_TRUE(bad.select(1, 17).all().item<bool>());
                EXPECT_EQ(bad.sum().item<int64_t>(), bad.select(1, 17).numel());
            }
        }
}

}  // namespace
}  // namespace aft::ops::testing
