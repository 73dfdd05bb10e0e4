#include "core/compare/head_matching.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace aft {

namespace {

// Costs of an assignment [rows, columns] with rows <= columns.
struct AssignmentCosts {
    const HeadScores& scores;
    bool is_transposed = false;
    double worst = 0;  // of NaN

    [[nodiscard]] double at(int64_t row, int64_t column) const {
        const double score = is_transposed ? scores.at(column, row) : scores.at(row, column);
        return std::isfinite(score) ? -score : worst;
    }
    [[nodiscard]] size_t rows() const {
        return static_cast<size_t>(is_transposed ? scores.columns : scores.rows);
    }
    [[nodiscard]] size_t columns() const {
        return static_cast<size_t>(is_transposed ? scores.rows : scores.columns);
    }
};

// The state of the shortest augmenting paths; index 0 stands for "none", rows and columns from 1.
struct Augmenting {
    std::vector<double> row_price, column_price;
    std::vector<size_t> row_of, came_from;  // of columns

    explicit Augmenting(const AssignmentCosts& costs)
        : row_price(costs.rows() + 1),
          column_price(costs.columns() + 1),
          row_of(costs.columns() + 1),
          came_from(costs.columns() + 1) {}

    void add_row(const AssignmentCosts& costs, size_t row) {
        row_of[0] = row;
        size_t column = 0;
        std::vector<double> least(column_price.size(), std::numeric_limits<double>::infinity());
        std::vector<char> is_done(column_price.size(), 0);
        while (row_of[column] != 0) {
            is_done[column] = 1;
            const size_t from = row_of[column];
            double step = std::numeric_limits<double>::infinity();
            size_t next = 0;
            for (size_t j = 1; j < column_price.size(); ++j) {
                if (is_done[j] != 0) continue;
                const double cost =
                    costs.at(static_cast<int64_t>(from) - 1, static_cast<int64_t>(j) - 1) -
                    row_price[from] - column_price[j];
                if (cost < least[j]) {
                    least[j] = cost;
                    came_from[j] = column;
                }
                if (least[j] < step) {
                    step = least[j];
                    next = j;
                }
            }
            for (size_t j = 0; j < column_price.size(); ++j) {
                if (is_done[j] != 0) {
                    row_price[row_of[j]] += step;
                    column_price[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            column = next;
        }
        for (; column != 0; column = came_from[column]) row_of[column] = row_of[came_from[column]];
    }
};

std::vector<HeadMatch> optimal_pairs(const HeadScores& scores) {
    AssignmentCosts costs{.scores = scores, .is_transposed = scores.rows > scores.columns};
    for (const double score : scores.values)
        if (std::isfinite(score)) costs.worst = std::max(costs.worst, std::abs(score) + 1);
    costs.worst *= static_cast<double>(costs.columns()) + 1;  // no two scores outweigh one
    Augmenting state(costs);
    for (size_t row = 1; row <= costs.rows(); ++row) state.add_row(costs, row);
    std::vector<HeadMatch> pairs;
    for (size_t column = 1; column <= costs.columns(); ++column) {
        if (state.row_of[column] == 0) continue;
        const auto row = static_cast<int64_t>(state.row_of[column]) - 1;
        const auto other = static_cast<int64_t>(column) - 1;
        HeadMatch match{.a = row, .b = other};
        if (costs.is_transposed) std::swap(match.a, match.b);
        match.score = scores.at(match.a, match.b);
        pairs.push_back(match);
    }
    return pairs;
}

std::vector<HeadMatch> greedy_pairs(const HeadScores& scores) {
    std::vector<HeadMatch> all;
    for (int64_t a = 0; a < scores.rows; ++a)
        for (int64_t b = 0; b < scores.columns; ++b) all.push_back({a, b, scores.at(a, b)});
    const auto rank = [](const HeadMatch& m) {
        return std::isnan(m.score) ? -std::numeric_limits<double>::infinity() : m.score;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const HeadMatch& x, const HeadMatch& y) { return rank(x) > rank(y); });
    std::vector<char> has_a(static_cast<size_t>(scores.rows), 0),
        has_b(static_cast<size_t>(scores.columns), 0);
    std::vector<HeadMatch> pairs;
    for (const HeadMatch& match : all) {
        char &a = has_a[static_cast<size_t>(match.a)], &b = has_b[static_cast<size_t>(match.b)];
        if (a != 0 || b != 0) continue;
        a = b = 1;
        pairs.push_back(match);
    }
    return pairs;
}

}  // namespace

int64_t HeadMatching::of_a(int64_t a) const {
    for (const HeadMatch& pair : pairs)
        if (pair.a == a) return pair.b;
    return -1;
}

double HeadMatching::mean_score() const {
    double sum = 0, count = 0;
    for (const HeadMatch& pair : pairs) {
        if (std::isnan(pair.score)) continue;
        sum += pair.score;
        ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

HeadMatching match_heads(const HeadScores& scores) {
    HeadMatching out;
    out.is_optimal = std::max(scores.rows, scores.columns) <= kMostOptimalHeads;
    out.pairs = out.is_optimal ? optimal_pairs(scores) : greedy_pairs(scores);
    std::sort(out.pairs.begin(), out.pairs.end(),
              [](const HeadMatch& x, const HeadMatch& y) { return x.a < y.a; });
    return out;
}

HeadMatching same_order(const HeadScores& scores) {
    HeadMatching out;
    for (int64_t i = 0; i < std::min(scores.rows, scores.columns); ++i)
        out.pairs.push_back({i, i, scores.at(i, i)});
    return out;
}

}  // namespace aft
