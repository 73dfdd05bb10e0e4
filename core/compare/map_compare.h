// Comparing maps of numbers of one shape, NaN = not there: distances, correlation, and the cells
// that differ most. Sums in float64. Pure, any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/compare/head_matching.h"

namespace aft {

struct HeadMaps {                   // borrowed; row-major
    std::span<const float> values;  // [heads, cells]
    int64_t heads = 1;
    [[nodiscard]] int64_t cells() const {
        return heads > 0 ? static_cast<int64_t>(values.size()) / heads : 0;
    }
    [[nodiscard]] std::span<const float> head(int64_t i) const {
        return values.subspan(static_cast<size_t>(i * cells()), static_cast<size_t>(cells()));
    }
};

struct MapDistance {                // over the cells that are finite in both
    double norm_a = 0, norm_b = 0;  // Frobenius norms
    double norm_change = 0;         // of b - a
    // Pearson's; NaN where one of them is constant.
    double correlation = std::numeric_limits<double>::quiet_NaN();
    int64_t cells = 0;
    // norm_change / norm_a; NaN where a is 0.
    [[nodiscard]] double relative() const;
};
// Both of one size, else nothing is counted.
[[nodiscard]] MapDistance map_distance(std::span<const float> a, std::span<const float> b);
// Of several maps together, as of the heads of a layer. Their correlations are averaged.
[[nodiscard]] MapDistance together(std::span<const MapDistance> parts);

// Pearson's correlation of every head of a with every head of b. Maps that are constant: 1 with
// their equal, else 0. NaN where the two are not finite in equally many cells, or of other sizes.
[[nodiscard]] HeadScores correlate_heads(const HeadMaps& a, const HeadMaps& b);

// How large a change of w is: |b - a|, or |exp(b) - exp(a)|, by which the weight of a source
// changes: far below 0 nothing is left of the first.
enum class ChangeMeasure { w, exp };
[[nodiscard]] double change_size(double a, double b, ChangeMeasure by);

struct CellChange {
    int64_t cell = 0;
    float a = 0, b = 0;
    [[nodiscard]] double change() const { return double(b) - double(a); }
};
// The `most` cells with the largest change, the largest first, of equal ones the first. Cells that
// have not changed are left out.
[[nodiscard]] std::vector<CellChange> largest_changes(std::span<const float> a,
                                                      std::span<const float> b, size_t most,
                                                      ChangeMeasure by = ChangeMeasure::w);

// exp(w) of each row divided by its sum: [rows, columns], NaN stays.
[[nodiscard]] std::vector<float> row_shares(std::span<const float> w, int64_t columns);

}  // namespace aft
