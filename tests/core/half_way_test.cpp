#include "core/half_way.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace aft {
namespace {

std::optional<size_t> half_of(std::vector<float> series) {
    return half_way(series);
}

TEST(HalfWay, IsTheFirstPlaceThatIsHalfOfTheChangeAway) {
    EXPECT_EQ(half_of({0, 1, 2, 3, 4}), 2u);
    EXPECT_EQ(half_of({4, 4, 1, 0}), 2u);
    EXPECT_EQ(half_of({0, 9, 0, 4}), 1u) << "what went there and back counts, too";
    EXPECT_EQ(half_of({1, 5}), 1u);
    EXPECT_EQ(half_of({4, 6, 7, 3, 2}), 3u) << "away from its end is not on its way";
    EXPECT_EQ(half_of({4, 1, 5, 6}), 2u);
}

TEST(HalfWay, IsNotThereWhereNothingChanges) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(half_of({}));
    EXPECT_FALSE(half_of({1}));
    EXPECT_FALSE(half_of({2, 7, 2}));
    EXPECT_FALSE(half_of({kNaN, 1}));
    EXPECT_FALSE(half_of({1, kNaN}));
    EXPECT_EQ(half_of({0, kNaN, 1}), 2u);
}

}  // namespace
}  // namespace aft
