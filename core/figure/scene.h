// A figure as its maker describes it: grids of labelled maps and pictures with colour bars, and
// plots with axes. Rooms fill it (app/figures, jobs), draw_figure() lays it out. Plain data, any
// thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/figure/drawing.h"
#include "core/images/colormap.h"
#include "core/images/image.h"

namespace aft {

// A colour bar with numbers at its ends, and at 0 where the scale is signed. The ember maps are
// taken for the ground: light centre on light.
struct ColorKey {
    Coloring coloring = {};
};

struct FigureTile {
    std::string label = {};          // above it; "" = none
    int64_t rows = 0, columns = 0;   // 0: the place stays empty
    std::vector<float> values = {};  // a map [rows, columns]; infinity is marked
    Image picture = {};              // or a picture of that size
    // Of a picture [rows, columns]: 1 is hatched; empty: nothing is.
    std::vector<uint8_t> hidden = {};
    bool hatches_nan = true;  // NaN of a map is hidden; else it is marked as a value that is none
    int64_t stretch = 1;      // height of a cell over its width
    // Of this map, its bar below it; none: that of the row or grid.
    std::optional<ColorKey> key = {};
};

struct FigureRow {
    std::string label = {};  // left of it
    std::vector<FigureTile> tiles = {};
    std::optional<ColorKey> key = {};  // of the row's maps, its bar at the right end
};

struct FigureGrid {
    std::string title = {};
    std::vector<std::string> column_labels = {};
    std::vector<FigureRow> rows = {};
    std::optional<ColorKey> key = {};  // of all maps, its bar below them
    double width = 1000;               // the tiles take about so much at most
    // What a tile's columns and rows are: below the tiles, and left of them.
    std::string x_title = {}, y_title = {};
    // Of the cells of a grid of one tile: left of its rows and above its columns, where a number
    // stands for a name that is wider than a cell.
    std::vector<std::string> row_names = {}, column_names = {};
};

struct FigureSeries {
    std::string name = {};  // "" = not in the legend
    std::vector<double> x = {}, y = {};
    std::vector<double> low = {}, high = {};  // spread at each x, empty = none
    int color = 0;                            // place in the series colours, from 0
    bool has_line = true, has_dots = false, is_faint = false;
};

struct FigurePlot {
    std::string x_label = {}, y_label = {};
    std::vector<FigureSeries> series = {};
    // Names of places on the axes, as of logarithms; empty: round numbers.
    std::vector<std::pair<double, std::string>> x_ticks = {}, y_ticks = {};
    bool names_at_ends = false;  // of the series: right of their last points, not in a legend
};

struct FigureScene {
    std::string title = {};
    // Below the title: quantity, normalisation, range, model, step.
    std::vector<std::string> notes = {};
    std::vector<std::variant<FigureGrid, FigurePlot>> parts = {};
    bool is_dark = false;
};

// Cost: O(cells and points).
[[nodiscard]] FigureDrawing draw_figure(const FigureScene& figure);

// Blocks of so many cells a side, each its value of largest magnitude: no map has a side over
// `most` cells. Returns the block's side, 1 = as it was. NaN only where all cells are NaN.
int64_t reduce_tile(FigureTile& tile, int64_t most);

// "-0.82", "12.4", "1.5e-6": three digits, with U+2212 for minus.
[[nodiscard]] std::string figure_number(double v);

// Throws usage Error unless it ends in .svg or .png; then, as the final write would, where it is
// not writable.
void check_figure_file(const std::filesystem::path& path);
// .svg or .png, atomic. scale 1 to 4: pixels of the PNG for one of the figure. usage Error where
// the picture would be too large.
void write_figure(const std::filesystem::path& path, const FigureScene& figure, int scale);

}  // namespace aft
