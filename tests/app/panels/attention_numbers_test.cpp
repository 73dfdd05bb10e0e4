// The share of an attention row that the prior gives too, and which of its sources are masked.
#include "app/panels/attention/attention_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/app/traits.h"

namespace aft::app {
namespace {

TEST(AttentionNumbers, Overlap) {
    constexpr float hidden = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> both{0.5F, 0.3F, 0.2F, hidden};
    EXPECT_NEAR(overlap(both, both), 1, 1e-6);
    EXPECT_NEAR(overlap(both, std::vector<float>{0.2F, 0.3F, 0.5F, hidden}), 0.7, 1e-6);
    EXPECT_EQ(overlap(std::vector<float>{1, 0, hidden}, std::vector<float>{0, 1, hidden}), 0);
}

// What the causal order hides is not masked.
TEST(AttentionNumbers, MaskedSources) {
    Status s;
    s.config.model.height = 1;
    s.config.model.width = 6;
    s.config.model.mixer = "aft-full";
    s.tokens = 6;
    s.layers.resize(1);
    const Status status = with_traits(s);
    const Positions positions(status);
    const float hidden = std::nanf("");
    AttentionMap map;
    map.row = {0.5F, hidden, hidden, 0.5F, hidden, hidden};
    map.folded = fold_row(positions, map.row, -1);
    ProbeRequest of;
    of.layer = 0;
    of.position = 3;
    mark_masked(status, of, map);
    EXPECT_EQ(map.masked, (std::vector<uint8_t>{0, 1, 1, 0, 0, 0}));
    EXPECT_TRUE(map.is_masked(2));
    EXPECT_FALSE(map.is_masked(4));
    ASSERT_EQ(map.folded.masked.size(), map.folded.hidden.size());
    for (int64_t j = 1; j < 6; ++j) {
        const FoldPlace at = fold_place(positions, positions.source(j));
        EXPECT_EQ(map.folded.masked[size_t(at.row * map.folded.columns + at.column)],
                  map.masked[size_t(j)]);
    }
    map.row = {0.25F, 0.25F, 0.25F, 0.25F, hidden, hidden};
    mark_masked(status, of, map);
    EXPECT_TRUE(map.masked.empty() && map.folded.masked.empty());
}

}  // namespace
}  // namespace aft::app
