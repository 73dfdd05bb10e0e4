#include "app/panels/shared/fold.h"

#include <cmath>
#include <limits>

namespace aft::app {

FoldPlace fold_place(const Positions& positions, const Positions::GridPosition& place) {
    if (!place.is_on_grid()) return {};
    if (positions.is_text) return {place.x / kTextWidth, place.x % kTextWidth};
    return {place.y, place.x};
}

float value_at(const Folded& map, const FoldPlace& at) {
    const bool is_in =
        at.row >= 0 && at.row < map.rows && at.column >= 0 && at.column < map.columns;
    const auto i = is_in ? size_t(at.row * map.columns + at.column) : map.values.size();
    if (i >= map.values.size() || map.hidden[i] != 0)
        return std::numeric_limits<float>::quiet_NaN();
    return map.values[i];
}

Positions::GridPosition unfold(const Positions& positions, int64_t row, int64_t column) {
    if (row < 0 || column < 0) return {};
    if (!positions.is_text) return {row, column, 0};
    const int64_t x = row * kTextWidth + column;
    return x < positions.width ? Positions::GridPosition{0, x, 0} : Positions::GridPosition{};
}

namespace {

struct FoldHow {
    int64_t channel = -1;
    bool mean = false, over_targets = false;
};

Folded fold(const Positions& positions, std::span<const float> row, const FoldHow& how) {
    Folded out;
    out.rows =
        positions.is_text ? (positions.width + kTextWidth - 1) / kTextWidth : positions.height;
    out.columns = positions.is_text ? kTextWidth : positions.width;
    const auto size = size_t(out.rows * out.columns);
    out.values.assign(size, 0);
    out.hidden.assign(size, 1);
    std::vector<float> count(size, 0);
    for (size_t j = 0; j < row.size(); ++j) {
        const Positions::GridPosition place =
            how.over_targets ? positions.target(int64_t(j)) : positions.source(int64_t(j));
        if (!place.is_on_grid() || std::isnan(row[j])) continue;
        if (how.channel >= 0 && place.channel != how.channel) continue;
        const FoldPlace at = fold_place(positions, place);
        const auto i = size_t(at.row * out.columns + at.column);
        out.values[i] += row[j];
        out.hidden[i] = 0;
        count[i] += 1;
    }
    for (size_t i = 0; how.mean && i < size; ++i)
        if (count[i] > 0) out.values[i] /= count[i];
    return out;
}

}  // namespace

Folded fold_row(const Positions& positions, std::span<const float> row, int64_t channel,
                bool mean) {
    return fold(positions, row, {.channel = channel, .mean = mean});
}

Folded fold_targets(const Positions& positions, std::span<const float> column) {
    return fold(positions, column, {.mean = true, .over_targets = true});
}

}  // namespace aft::app
