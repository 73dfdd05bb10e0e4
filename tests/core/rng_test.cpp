#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aft {
namespace {

// The published test vectors of Philox 4x32-10 (Random123, kat_vectors).
TEST(Rng, philox_gives_the_published_numbers) {
    using Four = std::array<uint32_t, 4>;
    EXPECT_EQ(philox(0, 0, 0), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const uint64_t ones = ~uint64_t{0};
    EXPECT_EQ(philox(ones, ones, ones), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
              (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, uniform_lies_in_the_unit_interval_with_the_right_moments) {
    double sum = 0, squares = 0;
    const int n = 100000;
    for (int i = 0; i < n; ++i) {
        const double u = uniform(7, 3, static_cast<uint64_t>(i));
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        squares += u * u;
    }
    EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
    EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(Rng, draws_are_a_function_of_seed_and_stream) {
    CounterRng a(1, 2), b(1, 2), other_seed(2, 2), other_stream(1, 3);
    int same_seed = 0, same_stream = 0;
    for (int i = 0; i < 100; ++i) {
        const int64_t drawn = a.below(1000);
        EXPECT_EQ(drawn, b.below(1000));
        same_seed += drawn == other_seed.below(1000);
        same_stream += drawn == other_stream.below(1000);
    }
    EXPECT_LT(same_seed, 5);
    EXPECT_LT(same_stream, 5);
}

TEST(Rng, below_reaches_every_value_and_no_other) {
    CounterRng rng(5, 1);
    std::array<int, 7> seen{};
    for (int i = 0; i < 7000; ++i) ++seen.at(static_cast<size_t>(rng.below(7)));
    for (int count : seen) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0));
}

TEST(Rng, normal_has_mean_zero_and_variance_one) {
    CounterRng rng(9, 1);
    double sum = 0, squares = 0;
    const int n = 100000;
    for (int i = 0; i < n; ++i) {
        const double x = rng.normal();
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
    EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
}

}  // namespace
}  // namespace aft
