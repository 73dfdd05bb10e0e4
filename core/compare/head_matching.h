// Matching heads of two models: which head of one is which of the other, whatever their order.
// Pure, any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace aft {

struct HeadScores {  // how alike head a and head b are; larger = more alike, NaN = not known
    int64_t rows = 0, columns = 0;
    std::vector<double> values;  // [rows, columns]
    [[nodiscard]] double at(int64_t a, int64_t b) const {
        return values[static_cast<size_t>(a * columns + b)];
    }
};

struct HeadMatch {
    int64_t a = -1, b = -1;
    double score = std::numeric_limits<double>::quiet_NaN();
};

struct HeadMatching {
    std::vector<HeadMatch> pairs;  // min(rows, columns) of them, ascending a
    bool is_optimal = true;        // the largest sum of scores; else the best pair was taken first
    [[nodiscard]] int64_t of_a(int64_t a) const;  // its b; -1 = it has none
    [[nodiscard]] double mean_score() const;      // of those that are known; NaN = none
};

inline constexpr int64_t kMostOptimalHeads = 512;  // O(n^3): 0.2 s

// One to one. NaN counts as worse than every score. Up to kMostOptimalHeads a side the sum of
// scores is the largest one there is (Kuhn 1955, shortest augmenting paths), above greedy.
[[nodiscard]] HeadMatching match_heads(const HeadScores& scores);
// Head i with head i.
[[nodiscard]] HeadMatching same_order(const HeadScores& scores);

}  // namespace aft
