// Biases beyond the promised range are reported, once per process: each of these runs in its own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/warnings.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

// Ends the process: 1 = warned, 0 = not.
[[noreturn]] void exit_if_warned(OperatorKind kind, double bias, bool everywhere) {
    bool warned = false;
    set_warning_sink([&](const std::string& text) {
        warned = warned || (text.starts_with("w holds") && text.find("1000") != std::string::npos);
    });
    Sample sample = make_sample({.kind = kind, .causal = true});
    if (everywhere)
        sample.in.w.fill_(bias);
    else
        sample.in.w.view({-1})[0] = bias;
    (void)evaluate(operator_of(OperatorBackend::cpu), kind, sample);
    std::exit(warned ? 1 : 0);
}

class OpsRange : public ::testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    static ::testing::ExitedWithCode warned() { return ::testing::ExitedWithCode(1); }
    static ::testing::ExitedWithCode silent() { return ::testing::ExitedWithCode(0); }
};

// Lone numbers far below are within the promise (ops_extreme_test.cpp, "a seventh below -1000").
TEST_F(OpsRange, ALoneBiasIsReportedAboveTheRangeOnly) {
    for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::full}) {
        EXPECT_EXIT(exit_if_warned(kind, 1500, false), warned(), "");
        EXPECT_EXIT(exit_if_warned(kind, -1500, false), silent(), "");
        EXPECT_EXIT(exit_if_warned(kind, -INFINITY, false), silent(), "");
    }
}

TEST_F(OpsRange, ARowThatIsFarBelowIsReported) {
    EXPECT_EXIT(exit_if_warned(OperatorKind::full, -1500, true), warned(), "");
    EXPECT_EXIT(exit_if_warned(OperatorKind::full, 1500, true), warned(), "");
    EXPECT_EXIT(exit_if_warned(OperatorKind::full, -900, true), silent(), "");
}

}  // namespace
}  // namespace aft::ops::testing
