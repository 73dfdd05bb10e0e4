// What is drawn over a map's quad: axis numbers, numbers in cells, marks. Only map.cpp uses it.
#pragma once
#include "viz/map.h"

namespace aft::viz {

struct MapPlace {
    Box map;          // the part of the area that shows cells
    ImVec2 first;     // top left of cell (0, 0); may lie outside `map` when scrolled
    float zoom = 1;   // height of a cell
    float width = 1;  // of a cell
    [[nodiscard]] float least() const { return zoom < width ? zoom : width; }

    [[nodiscard]] Box cell(int64_t row, int64_t column) const {
        const ImVec2 low = {first.x + width * float(column), first.y + zoom * float(row)};
        return {low, {low.x + width, low.y + zoom}};
    }
};

struct CellRange {  // rows [row_low, row_high), columns [column_low, column_high)
    int64_t row_low = 0, row_high = 0, column_low = 0, column_high = 0;
};
// The middle of what is seen of [low, high] in [from, to]: numbers stay beside the map, however far
// its first cell is scrolled out.
[[nodiscard]] float seen_middle(float low, float high, float from, float to);
[[nodiscard]] CellRange visible_cells(const MapPlace& place, const MapData& data);

void draw_axis_numbers(const MapView& view, const MapPlace& place, const Look& look);
void draw_cell_numbers(const MapView& view, const MapPlace& place, const Look& look);
void draw_cells_not_finite(const MapView& view, const MapPlace& place, const Look& look);
void draw_marks(const MapView& view, const MapPlace& place, const Look& look);

}  // namespace aft::viz
