// The share of an attention row that the prior gives too.
#include "app/panels/attention/attention_numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace aft::app {
namespace {

TEST(AttentionNumbers, Overlap) {
    constexpr float hidden = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> both{0.5F, 0.3F, 0.2F, hidden};
    EXPECT_NEAR(overlap(both, both), 1, 1e-6);
    EXPECT_NEAR(overlap(both, std::vector<float>{0.2F, 0.3F, 0.5F, hidden}), 0.7, 1e-6);
    EXPECT_EQ(overlap(std::vector<float>{1, 0, hidden}, std::vector<float>{0, 1, hidden}), 0);
}

}  // namespace
}  // namespace aft::app
