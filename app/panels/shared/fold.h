// Fold: a row over the sources of one target, put back into the picture: source j stands at the
// sub-pixel it carries. Window thread.
#pragma once
#include <span>
#include <vector>

#include "app/panels/shared/positions.h"
#include "viz/tiles.h"

namespace aft::app {

struct Folded {  // [rows, columns] of one channel, or of all channels added up
    int64_t rows = 0, columns = 0;
    std::vector<float> values;
    std::vector<uint8_t> hidden;    // 1 = no visible source there
    std::vector<uint8_t> masked{};  // 1 = a mask hides it; empty = none
    uint64_t version = 0;
    [[nodiscard]] viz::MapData data() const {
        return {values, rows, columns, hidden, version, masked};
    }
};

inline constexpr int64_t kTextWidth = 32;  // bytes a line when a text is folded

// row: [T], NaN = not visible. channel -1 adds the channels of a pixel up
// (shares), or takes their mean. A text folds
// into lines of kTextWidth.
[[nodiscard]] Folded fold_row(const Positions& positions, std::span<const float> row,
                              int64_t channel, bool mean = false);
// column: [T] over the targets of one source; the mean of the channels of a pixel.
[[nodiscard]] Folded fold_targets(const Positions& positions, std::span<const float> column);
// Where a position stands in the folded picture; row -1 = not on it.
struct FoldPlace {
    int64_t row = -1, column = -1;
};
[[nodiscard]] FoldPlace fold_place(const Positions& positions,
                                   const Positions::GridPosition& place);
// What the cell at a place of the folded picture holds; NaN = no visible source there.
[[nodiscard]] float value_at(const Folded& map, const FoldPlace& at);
// The place in the sequence of a cell of the folded picture.
[[nodiscard]] Positions::GridPosition unfold(const Positions& positions, int64_t row,
                                             int64_t column);

}  // namespace aft::app
