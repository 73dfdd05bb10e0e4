// Peak memory of a piece of work.
#include "bench/timing/peak.h"

#include <gtest/gtest.h>

#include <vector>

namespace aft::bench {
namespace {

// Memory that was freed before counts as well as memory that is newly mapped.
TEST(Peak, all_memory_of_the_work_counts) {
    constexpr std::size_t kBytes = 96 << 20;
    const auto touch = [] {
        const std::vector<char> block(kBytes, 1);
        return block[kBytes / 2];
    };
    for (int i = 0; i < 3; ++i) {
        const std::optional<int64_t> peak = peak_above([&] { EXPECT_EQ(touch(), 1); });
        if (!peak) GTEST_SKIP() << "this system does not tell the peak";
        EXPECT_GE(*peak, static_cast<int64_t>(kBytes * 9 / 10)) << i;
        EXPECT_LE(*peak, static_cast<int64_t>(kBytes * 3 / 2)) << i;
    }
    const std::optional<int64_t> none = peak_above([] {});
    EXPECT_LE(none.value_or(0), 4 << 20);
}

}  // namespace
}  // namespace aft::bench
