// Biases beyond the promised range are reported, once per process: each of these runs in its own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/warnings.h"
#include "ops_cases.h"

namespace aft::ops::testing {
namespace {

// Ends the process: 1 = told, 0 = not.
[[noreturn]] void tells(OperatorKind kind, double bias, bool everywhere) {
    bool told = false;
    set_warning_sink([&](const std::string& text) {
        told = told || (text.starts_with("w holds") && text.find("1000") != std::string::npos);
    });
    Sample sample = make_sample({.kind = kind, .causal = true});
    if (everywhere)
        sample.in.w.fill_(bias);
    else
        sample.in.w.view({-1})[0] = bias;
    (void)evaluate(operator_of(OperatorBackend::cpu), kind, sample);
    std::exit(told ? 1 : 0);
}

class OpsRange : public ::testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    static ::testing::ExitedWithCode told() { return ::testing::ExitedWithCode(1); }
    static ::testing::ExitedWithCode silent() { return ::testing::ExitedWithCode(0); }
};

// Lone numbers far below are within the promise (ops_extreme_test.cpp, "a seventh below -1000").
TEST_F(OpsRange, ALoneBiasIsToldOfAboveTheRangeOnly) {
    for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::full}) {
        EXPECT_EXIT(tells(kind, 1500, false), told(), "");
        EXPECT_EXIT(tells(kind, -1500, false), silent(), "");
        EXPECT_EXIT(tells(kind, -INFINITY, false), silent(), "");
    }
}

TEST_F(OpsRange, ARowThatIsFarBelowIsToldOf) {
    EXPECT_EXIT(tells(OperatorKind::full, -1500, true), told(), "");
    EXPECT_EXIT(tells(OperatorKind::full, 1500, true), told(), "");
    EXPECT_EXIT(tells(OperatorKind::full, -900, true), silent(), "");
}

}  // namespace
}  // namespace aft::ops::testing
