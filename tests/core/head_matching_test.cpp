// Matching heads: the largest sum of scores, whatever the order and the sizes.
#include "core/compare/head_matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace aft {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

double sum_of(const HeadMatching& matching) {
    double sum = 0;
    for (const HeadMatch& pair : matching.pairs) sum += pair.score;
    return sum;
}

// By trying every order of the columns.
double best_sum(const HeadScores& scores) {
    std::vector<int64_t> order(static_cast<size_t>(scores.columns));
    std::iota(order.begin(), order.end(), 0);
    double best = -1e300;
    do {
        double sum = 0;
        for (int64_t i = 0; i < std::min(scores.rows, scores.columns); ++i)
            sum += scores.at(i, order[static_cast<size_t>(i)]);
        best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

HeadScores random_scores(int64_t rows, int64_t columns, uint64_t seed) {
    HeadScores scores{.rows = rows, .columns = columns, .values = {}};
    uint64_t state = seed * 2654435761U + 1;
    for (int64_t i = 0; i < rows * columns; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        scores.values.push_back(static_cast<double>(state >> 40) / double(1 << 24) * 2 - 1);
    }
    return scores;
}

TEST(HeadMatching, FindsTheOrderOfShuffledHeads) {
    const int64_t order[] = {2, 0, 3, 1};
    HeadScores scores{.rows = 4, .columns = 4, .values = std::vector<double>(16, 0.1)};
    for (int64_t a = 0; a < 4; ++a) scores.values[size_t(a * 4 + order[a])] = 0.9;
    const HeadMatching matching = match_heads(scores);
    ASSERT_EQ(matching.pairs.size(), 4u);
    for (int64_t a = 0; a < 4; ++a) {
        EXPECT_EQ(matching.of_a(a), order[a]);
        EXPECT_EQ(matching.pairs[size_t(a)].a, a) << "in the order of a";
    }
    EXPECT_TRUE(matching.is_optimal);
    EXPECT_NEAR(matching.mean_score(), 0.9, 1e-12);
}

TEST(HeadMatching, TheSumIsTheLargestWhereTheBestPairIsNotInIt) {
    const HeadScores scores{.rows = 2, .columns = 2, .values = {0.9, 0.8, 0.85, 0.1}};
    const HeadMatching matching = match_heads(scores);
    EXPECT_EQ(matching.of_a(0), 1);
    EXPECT_EQ(matching.of_a(1), 0);
    EXPECT_NEAR(sum_of(matching), 1.65, 1e-12);
}

TEST(HeadMatching, IsAsGoodAsTryingAllOrders) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        const HeadScores scores = random_scores(5, 5 + int64_t(seed % 3), seed);
        EXPECT_NEAR(sum_of(match_heads(scores)), best_sum(scores), 1e-9) << seed;
    }
}

TEST(HeadMatching, MoreHeadsInAThanInBLeaveSomeAlone) {
    const HeadScores wide = random_scores(3, 6, 7);
    HeadScores tall{.rows = 6, .columns = 3, .values = {}};
    for (int64_t b = 0; b < 6; ++b)
        for (int64_t a = 0; a < 3; ++a) tall.values.push_back(wide.at(a, b));
    const HeadMatching matching = match_heads(tall);
    ASSERT_EQ(matching.pairs.size(), 3u);
    EXPECT_NEAR(sum_of(matching), sum_of(match_heads(wide)), 1e-9);
    int64_t alone = 0;
    for (int64_t a = 0; a < 6; ++a) alone += matching.of_a(a) < 0 ? 1 : 0;
    EXPECT_EQ(alone, 3);
}

TEST(HeadMatching, AnUnknownScoreIsTakenLast) {
    const HeadScores scores{.rows = 2, .columns = 2, .values = {kNoScore, -0.9, -0.8, kNoScore}};
    const HeadMatching matching = match_heads(scores);
    EXPECT_EQ(matching.of_a(0), 1);
    EXPECT_EQ(matching.of_a(1), 0);
    const HeadScores none{
        .rows = 2, .columns = 2, .values = {kNoScore, kNoScore, kNoScore, kNoScore}};
    EXPECT_EQ(match_heads(none).pairs.size(), 2u);
    EXPECT_TRUE(std::isnan(match_heads(none).mean_score()));
}

TEST(HeadMatching, BeyondTheLimitTheBestPairIsTakenFirst) {
    const int64_t n = kMostOptimalHeads + 8;
    HeadScores scores{.rows = n, .columns = n, .values = std::vector<double>(size_t(n * n), 0)};
    for (int64_t a = 0; a < n; ++a) scores.values[size_t(a * n + (a + 5) % n)] = 1;
    const HeadMatching matching = match_heads(scores);
    EXPECT_FALSE(matching.is_optimal);
    ASSERT_EQ(matching.pairs.size(), size_t(n));
    std::set<int64_t> taken;
    for (const HeadMatch& pair : matching.pairs) {
        EXPECT_EQ(pair.b, (pair.a + 5) % n);
        taken.insert(pair.b);
    }
    EXPECT_EQ(taken.size(), size_t(n));
}

TEST(HeadMatching, InOrderIsHeadByHead) {
    const HeadScores scores = random_scores(3, 4, 3);
    const HeadMatching matching = same_order(scores);
    ASSERT_EQ(matching.pairs.size(), 3u);
    for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(matching.of_a(i), i);
        EXPECT_EQ(matching.pairs[size_t(i)].score, scores.at(i, i));
    }
    EXPECT_EQ(matching.of_a(3), -1);
    EXPECT_TRUE(match_heads({}).pairs.empty());
}

}  // namespace
}  // namespace aft
