// Distances, correlations and largest changes of maps, by hand.
#include "core/compare/map_compare.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aft {
namespace {

constexpr float kHole = std::numeric_limits<float>::quiet_NaN();

TEST(MapCompare, DistanceIsThatOfTheCellsThatBothHave) {
    const std::vector<float> a = {3, 4, kHole, 1}, b = {3, 1, 7, kHole};
    const MapDistance d = map_distance(a, b);
    EXPECT_EQ(d.cells, 2);
    EXPECT_DOUBLE_EQ(d.norm_a, 5);
    EXPECT_DOUBLE_EQ(d.norm_b, std::sqrt(10.0));
    EXPECT_DOUBLE_EQ(d.norm_change, 3);
    EXPECT_DOUBLE_EQ(d.relative(), 0.6);
    EXPECT_NEAR(d.correlation, -1, 1e-12) << "3, 4 against 3, 1";
    EXPECT_EQ(map_distance(a, std::vector<float>{1}).cells, 0) << "another size";
}

TEST(MapCompare, CorrelationIsPearsons) {
    const std::vector<float> a = {1, 2, 3, 4}, b = {2, 4, 6, 8}, c = {1, 3, 2, 5};
    EXPECT_NEAR(map_distance(a, b).correlation, 1, 1e-12);
    EXPECT_NEAR(map_distance(a, c).correlation, 5.5 / std::sqrt(5 * 8.75), 1e-12);
    const std::vector<float> flat(4, 2);
    EXPECT_TRUE(std::isnan(map_distance(a, flat).correlation));
    EXPECT_TRUE(std::isnan(map_distance(std::vector<float>(4, 0), a).relative()));
}

TEST(MapCompare, PartsTogetherAreOneMap) {
    const std::vector<float> a = {3, 4, 12, 0}, b = {0, 0, 0, 0};
    const MapDistance parts[] = {map_distance({a.data(), 2}, {b.data(), 2}),
                                 map_distance({a.data() + 2, 2}, {b.data() + 2, 2})};
    const MapDistance all = together(parts);
    EXPECT_DOUBLE_EQ(all.norm_a, 13);
    EXPECT_DOUBLE_EQ(all.norm_change, 13);
    EXPECT_EQ(all.cells, 4);
}

TEST(MapCompare, HeadsCorrelateWithThemselvesInAnyOrder) {
    const std::vector<float> a = {1, 2, 3, kHole, 5, 1, 0, kHole};    // two heads
    const std::vector<float> b = {50, 10, 0, kHole, 2, 4, 6, kHole};  // the other way round, scaled
    const HeadScores scores = correlate_heads({.values = a, .heads = 2}, {.values = b, .heads = 2});
    EXPECT_NEAR(scores.at(0, 1), 1, 1e-6);
    EXPECT_NEAR(scores.at(1, 0), 1, 1e-6);
    EXPECT_LT(scores.at(0, 0), 0);
    const HeadMatching matching = match_heads(scores);
    EXPECT_EQ(matching.of_a(0), 1);
    EXPECT_EQ(matching.of_a(1), 0);
}

TEST(MapCompare, ConstantAndUnlikeHeadsHaveAScoreToo) {
    const std::vector<float> zero(3, 0), one(3, 1), line = {1, 2, 3}, holes = {1, kHole, 3};
    const auto score = [](const std::vector<float>& a, const std::vector<float>& b) {
        return correlate_heads({.values = a, .heads = 1}, {.values = b, .heads = 1}).at(0, 0);
    };
    EXPECT_EQ(score(zero, zero), 1) << "both untrained";
    EXPECT_EQ(score(zero, one), 0);
    EXPECT_EQ(score(zero, line), 0);
    EXPECT_TRUE(std::isnan(score(line, holes))) << "not the same cells";
    EXPECT_TRUE(std::isnan(score(line, {1, 2}))) << "not the same size";
}

TEST(MapCompare, LargestChangesComeInOrder) {
    const std::vector<float> a = {0, 1, 2, kHole, 4, 5}, b = {0, 3, -3, 9, 2, 5.5F};
    const auto changes = largest_changes(a, b, 3);
    ASSERT_EQ(changes.size(), 3u);
    EXPECT_EQ(changes[0].cell, 2);
    EXPECT_EQ(changes[0].change(), -5);
    EXPECT_EQ(changes[1].cell, 1) << "of two equal ones the first";
    EXPECT_EQ(changes[2].cell, 4);
    EXPECT_EQ(largest_changes(a, b, 100).size(), 4u) << "what is alike or missing is no change";
    EXPECT_TRUE(largest_changes(a, b, 0).empty());
    EXPECT_TRUE(largest_changes(a, std::vector<float>{1}, 5).empty());
}

TEST(MapCompare, LargestChangesOfExpLeaveOutWhatWeighsNothing) {
    const std::vector<float> a = {0, -40, 1}, b = {0.5F, -10, 3};
    EXPECT_EQ(largest_changes(a, b, 1)[0].cell, 1) << "of w";
    const auto changes = largest_changes(a, b, 3, ChangeMeasure::exp);
    ASSERT_EQ(changes.size(), 3u);
    EXPECT_EQ(changes[0].cell, 2) << "e to e^3";
    EXPECT_EQ(changes[1].cell, 0);
    EXPECT_NEAR(change_size(1, 3, ChangeMeasure::exp), std::exp(3) - std::exp(1), 1e-12);
}

TEST(MapCompare, RowSharesAddUpToOne) {
    const std::vector<float> w = {0, std::log(3.0F), kHole, 1000, 1000, 1000};
    const std::vector<float> shares = row_shares(w, 3);
    EXPECT_NEAR(shares[0], 0.25, 1e-6);
    EXPECT_NEAR(shares[1], 0.75, 1e-6);
    EXPECT_TRUE(std::isnan(shares[2]));
    for (size_t i = 3; i < 6; ++i) EXPECT_NEAR(shares[i], 1.0 / 3, 1e-6) << "no overflow";
}

}  // namespace
}  // namespace aft
