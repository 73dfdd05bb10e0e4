// Numbers on the axes of plots: round, no two alike, as many as fit, whole where they count
// steps.
#include "viz/plot_ticks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace aft::viz {
namespace {

using Words = std::vector<std::string>;

void expect_sound(const TickAxis& axis) {
    SCOPED_TRACE(testing::Message() << axis.low << " to " << axis.high << " log " << axis.is_log
                                    << " whole " << axis.is_whole << " most " << axis.most);
    const Ticks ticks = make_ticks(axis);
    ASSERT_EQ(ticks.values.size(), ticks.labels.size());
    EXPECT_LE(ticks.values.size(), size_t(axis.most) + 1);
    EXPECT_EQ(std::set<std::string>(ticks.labels.begin(), ticks.labels.end()).size(),
              ticks.labels.size());
    const double slack = 1e-6 * (axis.high - axis.low);
    for (size_t i = 0; i < ticks.values.size(); ++i) {
        EXPECT_GE(ticks.values[i], axis.low - slack);
        EXPECT_LE(ticks.values[i], axis.high + slack);
        const bool is_first = i == 0;
        EXPECT_TRUE(is_first || ticks.values[i] > ticks.values[i - 1]) << i;
        EXPECT_TRUE(!axis.is_whole || ticks.values[i] == std::round(ticks.values[i])) << i;
        EXPECT_LE(ticks.labels[i].size(), 12U) << ticks.labels[i];
    }
}

TEST(PlotTicks, AreSoundOnAllKindsOfAxes) {
    for (const double low : {1e-7, 1e-4, 0.3, 1.0, 2.0, 40.0, 1999.0, 123456.0, 2e6})
        for (const double span : {1e-3, 0.1, 1.0, 2.0, 7.5, 60.0, 4e4, 1e6, 3e8})
            for (const bool is_log : {false, true})
                for (const int most : {2, 5, 10}) {
                    expect_sound({.low = low,
                                  .high = low * (1 + span),
                                  .is_log = is_log,
                                  .is_whole = false,
                                  .most = most});
                    expect_sound({.low = low,
                                  .high = low + span * 10,
                                  .is_log = is_log,
                                  .is_whole = true,
                                  .most = most});
                }
}

TEST(PlotTicks, OfAShortRunAreWholeSteps) {
    EXPECT_EQ(make_ticks({.low = 1, .high = 3, .is_whole = true, .most = 8}).labels,
              (Words{"1", "2", "3"}));
    EXPECT_EQ(make_ticks({.low = 0, .high = 60, .is_whole = true, .most = 6}).labels,
              (Words{"0", "10", "20", "30", "40", "50", "60"}));
}

TEST(PlotTicks, OfALongRunAreShort) {
    EXPECT_EQ(make_ticks({.low = 0, .high = 60000, .is_whole = true, .most = 4}).labels,
              (Words{"0", "20k", "40k", "60k"}));
    EXPECT_EQ(make_ticks({.low = 0, .high = 2.5e6, .is_whole = true, .most = 5}).labels,
              (Words{"0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"}));
}

TEST(PlotTicks, OfAConstantRateSayIt) {
    const Ticks ticks = make_ticks({.low = 0.9e-3, .high = 1.1e-3, .most = 4});
    EXPECT_EQ(ticks.labels, (Words{"0.00090", "0.00095", "0.00100", "0.00105", "0.00110"}));
    const Ticks tiny = make_ticks({.low = 0.9e-6, .high = 1.1e-6, .most = 2});
    EXPECT_EQ(tiny.labels, (Words{"0.9e\u22126", "1.0e\u22126", "1.1e\u22126"}));
}

TEST(PlotTicks, OfManyDecadesAreWrittenInOneWay) {
    const auto labels = [](double low, double high) {
        return make_ticks({.low = low, .high = high, .is_log = true, .most = 6}).labels;
    };
    EXPECT_EQ(labels(1e-5, 1e-2), (Words{"1e\u22125", "1e\u22124", "1e\u22123", "1e\u22122"}));
    EXPECT_EQ(labels(1e-4, 1e-1), (Words{"0.0001", "0.001", "0.01", "0.1"}));
    EXPECT_EQ(labels(100, 1e5), (Words{"100", "1000", "10k", "100k"}));
}

TEST(PlotTicks, AreNeverOneWhereTheNextStepHasFewEnough) {
    EXPECT_EQ(make_ticks({.low = -0.4, .high = 0.9, .most = 2}).labels, (Words{"0", "0.5"}));
}

TEST(PlotTicks, OfLogAxesArePowersElseRoundNumbersBetween) {
    EXPECT_EQ(make_ticks({.low = 0.5, .high = 2000, .is_log = true, .most = 6}).labels,
              (Words{"1", "10", "100", "1000"}));
    EXPECT_EQ(make_ticks({.low = 0.9, .high = 6, .is_log = true, .most = 5}).labels,
              (Words{"1", "2", "5"}));
    const Ticks narrow = make_ticks({.low = 3.1, .high = 3.9, .is_log = true, .most = 4});
    EXPECT_EQ(narrow.labels, (Words{"3.2", "3.4", "3.6", "3.8"}));
}

TEST(PlotTicks, OfNothingAreNone) {
    EXPECT_TRUE(make_ticks({.low = 1, .high = 1}).values.empty());
    EXPECT_TRUE(make_ticks({.low = -1, .high = 1, .is_log = true}).values.empty());
    EXPECT_TRUE(make_ticks({.low = 0, .high = INFINITY}).values.empty());
}

}  // namespace
}  // namespace aft::viz
