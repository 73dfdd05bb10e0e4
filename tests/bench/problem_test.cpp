// What a problem must cost, against numbers computed by hand; and the checks before the times.
#include "bench/workloads/problem.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "bench/peers/peer.h"
#include "bench/workloads/decoding.h"

namespace aft::bench {
namespace {

constexpr Shape kSmall{"", 2, 6, 8, 4};  // n = 2 * 6 * 8 = 96

void expect_work(const Problem& problem, double flop, double bytes) {
    EXPECT_EQ(cost_of(problem).flop, flop);
    EXPECT_EQ(cost_of(problem).bytes, bytes);
}

TEST(BenchWork, Simple) {
    const Problem one = make_problem(ops::OperatorKind::simple, kSmall, {.causal = true});
    expect_work(one, 12 * 96, 16 * 96);
    expect_work(backward_of(one), 30 * 96, 28 * 96);
}

TEST(BenchWork, FullAndLocal) {
    const auto make = [](ops::OperatorKind kind, bool causal) {
        return make_problem(kind, kSmall, {.causal = causal, .window = 3});
    };
    // 21 and 36 pairs of 6 tokens; window 3: 1 + 2 + 3 + 3 + 3 + 3 = 15, and 6 + 2 (5 + 4) = 24.
    // Each costs 2 multiply-adds of 8 channels in 2 samples, 64 FLOP.
    expect_work(make(ops::OperatorKind::full, true), 64 * 21, 16 * 96);
    expect_work(make(ops::OperatorKind::full, false), 64 * 36, 16 * 96);
    expect_work(make(ops::OperatorKind::local, true), 64 * 15, 16 * 96);
    expect_work(make(ops::OperatorKind::local, false), 64 * 24, 16 * 96);
    expect_work(backward_of(make(ops::OperatorKind::local, true)), 128 * 15, 36 * 96);
}

TEST(BenchWork, TheKeysOfAConvolutionHaveOneChannelAHead) {
    Problem one =
        make_problem(ops::OperatorKind::conv2d, kSmall, {.grid_height = 2, .grid_width = 3});
    one.in.k = at::randn({2, 6, 2});
    one.in.w = at::randn({2, 3, 3});
    // Taps inside: (2 + 2) down times (2 + 3 + 2) across = 28; a pair is 2 (8 + 2) FLOP in 2
    // samples.
    expect_work(one, 2 * 2 * (8 + 2) * 28, 4 * (3 * 96 + 24));
    expect_work(backward_of(one), 2 * 2 * 2 * (8 + 2) * 28, 4 * (6 * 96 + 3 * 24));
}

TEST(BenchForms, OursInBf16ComesWithItsPeers) {
    const Problem one =
        make_problem(ops::OperatorKind::local, kSmall, {.causal = true, .window = 3});
    const auto count = [](const Problem& problem) {
        int64_t ours = 0;
        for (const Form& form : forms_of(problem)) ours += form.group == "ours" ? 1 : 0;
        return ours;
    };
    EXPECT_EQ(count(one), 2);
    EXPECT_EQ(count(backward_of(one)), 1);
    EXPECT_EQ(forms_of(one)[0].type, at::kFloat);
    EXPECT_EQ(forms_of(one)[1].type, at::kBFloat16);
}

// A decoder that leaks the first text into the second.
class Deaf final : public decode::Decoder {
  public:
    explicit Deaf(std::unique_ptr<decode::Decoder> inner) : inner_(std::move(inner)) {}
    [[nodiscard]] std::unique_ptr<decode::DecoderState> start(int64_t rows) const override {
        return inner_->start(rows);
    }
    std::span<const float> step(std::span<const int64_t> tokens,
                                decode::DecoderState& state) override {
        const std::vector<int64_t> all(tokens.size(), tokens[0]);
        return inner_->step(all, state);
    }
    [[nodiscard]] int64_t group() const override { return inner_->group(); }
    [[nodiscard]] std::string name() const override { return "deaf"; }

  private:
    std::unique_ptr<decode::Decoder> inner_;
};

TEST(BenchDecoding, EveryRowIsCheckedWithItsOwnText) {
    const Net net(decode_model("aft-simple", true), 1);
    for (const char* format : {"fp32", "bf16", "int8"}) {
        const auto make = [&] {
            return decode::make_decoder(net, {.weights = decode::parse_weight_format(format)});
        };
        for (const int64_t rows : {1, 4, 16, 64}) {
            const DecodeForm form{.name = "", .precision = format, .net = &net, .rows = rows};
            const auto right = make();
            const double error = logits_error(form, *right);
            EXPECT_LT(error, form.precision == "fp32" ? 1e-4 : 0.1) << format << " " << rows;
            Deaf wrong(make());
            if (rows > 1) {
                EXPECT_GT(logits_error(form, wrong), 0.2) << format << " " << rows;
            }
        }
    }
}

TEST(BenchDecoding, CasesAreNamedByTheirConfig) {
    EXPECT_EQ(size_words(decode_model("aft-simple", false)), "24 layers, d=256");
    EXPECT_EQ(size_words(decode_model("aft-simple", true)), "2 layers, d=32");
}

}  // namespace
}  // namespace aft::bench
