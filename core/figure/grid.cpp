#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/figure/parts.h"

namespace aft {

namespace {

constexpr double kGap = 6, kBar = 10, kLabel = 18, kTileKey = 24, kSharedBar = 260;

// Sizes of a grid: every tile has the place of the largest one.
struct GridPlan {
    double tile_width = 0, tile_height = 0, left = 0, right = 0, top = 0, row_height = 0;
    double names = 0;  // of `left`: what the names of rows take
    bool has_tile_labels = false, has_tile_keys = false;
    size_t columns = 0;
};

// Pixels of a cell across: as many whole ones as the width has.
int64_t zoom_of(const FigureTile& tile, double side) {
    const int64_t longer = std::max(tile.columns, tile.rows * tile.stretch);
    return std::max<int64_t>(1, static_cast<int64_t>(side) / std::max<int64_t>(longer, 1));
}

double side_of(const FigureGrid& grid, size_t columns) {
    const double most = (grid.width - kGap * static_cast<double>(columns)) /
                        static_cast<double>(std::max<size_t>(columns, 1));
    return std::clamp(most, 48.0, columns <= 2 ? 280.0 : columns <= 4 ? 224.0 : 144.0);
}

GridPlan plan_of(const FigureGrid& grid) {
    GridPlan plan;
    for (const FigureRow& row : grid.rows) plan.columns = std::max(plan.columns, row.tiles.size());
    const double side = side_of(grid, plan.columns);
    for (const FigureRow& row : grid.rows) {
        plan.left = std::max(plan.left, text_width(row.label, kFigureText));
        if (row.key) plan.right = std::max(plan.right, kBar + 5 + key_numbers_width(*row.key));
        for (const FigureTile& tile : row.tiles) {
            const auto zoom = static_cast<double>(zoom_of(tile, side));
            plan.tile_width = std::max(plan.tile_width, zoom * static_cast<double>(tile.columns));
            plan.tile_height =
                std::max(plan.tile_height, zoom * static_cast<double>(tile.rows * tile.stretch));
            plan.has_tile_labels = plan.has_tile_labels || !tile.label.empty();
            plan.has_tile_keys = plan.has_tile_keys || tile.key;
        }
    }
    double widest = plan.tile_width;  // labels of columns need their space, too
    for (const std::string& label : grid.column_labels)
        widest = std::max(widest, text_width(label, kFigureText));
    for (const FigureRow& row : grid.rows)
        for (const FigureTile& tile : row.tiles) {
            widest = std::max(widest, text_width(tile.label, kFigureText));
            if (tile.key) widest = std::max(widest, 2 * key_numbers_width(*tile.key) + 24);
        }
    plan.tile_width = std::ceil(widest);
    plan.left = std::max(plan.left, text_width(grid.y_title, kFigureText));
    if (plan.left > 0) plan.left = std::ceil(plan.left) + 12;
    for (const std::string& name : grid.row_names)
        plan.names = std::max(plan.names, std::ceil(text_width(name, kFigureText)) + 8);
    plan.left += plan.names;
    if (plan.right > 0) plan.right += 8;
    if (!grid.title.empty()) plan.top += 24;
    if (!grid.column_labels.empty()) plan.top += kLabel;
    plan.row_height = plan.tile_height + kGap + (plan.has_tile_labels ? kLabel : 0) +
                      (plan.has_tile_keys ? kTileKey + 6 : 0);
    return plan;
}

// A map or a picture as pixels; hidden cells are clear, the hatch below them shows.
Image tile_image(const FigureInk& ink, const FigureTile& tile, const ColorKey* key) {
    Image image{tile.columns, tile.rows, 4, {}};
    image.pixels.assign(static_cast<size_t>(4 * tile.rows * tile.columns), 255);
    const Coloring coloring = key ? coloring_on(ink, *key) : Coloring{};
    for (int64_t i = 0; i < tile.rows * tile.columns; ++i) {
        const auto cell = static_cast<size_t>(i);
        uint8_t* const to = &image.pixels[4 * cell];
        if (!tile.values.empty()) {
            const double v = tile.values[cell];
            if (std::isnan(v) && tile.hatches_nan) {
                to[3] = 0;
                continue;
            }
            const Rgb color = map_color(v, coloring.range, coloring.scale, coloring.map);
            std::copy(color.begin(), color.end(), to);
            continue;
        }
        const int64_t c = tile.picture.channels;
        for (int64_t k = 0; k < 3; ++k)
            to[k] = tile.picture.pixels[static_cast<size_t>(i * c + (c == 1 ? 0 : k))];
        if (!tile.hidden.empty() && tile.hidden[cell] != 0) to[3] = 0;
    }
    return image;
}

bool has_clear_cells(const Image& image) {
    for (size_t i = 3; i < image.pixels.size(); i += 4)
        if (image.pixels[i] == 0) return true;
    return false;
}

struct TileSpot {
    DrawPoint at;
    double side = 0;
    const ColorKey* key = nullptr;  // of its row or grid
};

void draw_tile(FigureDrawing& to, const FigureInk& ink, const FigureTile& tile,
               const TileSpot& spot) {
    if (tile.rows == 0 || tile.columns == 0) return;
    DrawPoint at = spot.at;
    if (!tile.label.empty())
        to.marks.emplace_back(TextMark{.at = {at.x, at.y - 6},
                                       .words = tile.label,
                                       .size = kFigureText,
                                       .ink = ink.colors.text2});
    const ColorKey* const key = tile.key ? &*tile.key : spot.key;
    AFT_ASSERT(key || tile.values.empty());
    const auto zoom = static_cast<double>(zoom_of(tile, spot.side));
    const DrawBox box{at.x, at.y, zoom * static_cast<double>(tile.columns),
                      zoom * static_cast<double>(tile.rows * tile.stretch)};
    Image image = tile_image(ink, tile, key);
    if (has_clear_cells(image))
        to.marks.emplace_back(HatchMark{box, ink.hatch_ground, ink.hatch_line});
    to.marks.emplace_back(ImageMark{box, std::move(image)});
    if (tile.key)
        draw_key(to, ink, *tile.key, {at.x, box.bottom() + 6, std::max(box.width, 96.0), 6});
}

struct GridPen {
    FigureDrawing& to;
    const FigureInk& ink;
    const FigureGrid& grid;
    const GridPlan plan;
    DrawPoint at;

    void text(DrawPoint where, const std::string& words, DrawAnchor anchor) const {
        if (words.empty()) return;
        to.marks.emplace_back(TextMark{.at = where,
                                       .words = words,
                                       .size = kFigureText,
                                       .ink = ink.colors.text2,
                                       .anchor = anchor});
    }
    // The row's own label, and below it what its tiles' rows are.
    void left_words(const FigureRow& row, double y) const {
        const double x = at.x + plan.left - plan.names - 12, middle = y + plan.tile_height / 2 + 4;
        const double apart = row.label.empty() || grid.y_title.empty() ? 0 : 8;
        text({x, middle - apart}, row.label, DrawAnchor::end);
        text({x, middle + apart}, grid.y_title, DrawAnchor::end);
    }
    void row_names(const FigureTile& tile, double cell, double y) const {
        const auto every = static_cast<size_t>(std::ceil(14 / cell));
        const auto most = std::min(grid.row_names.size(), static_cast<size_t>(tile.rows));
        for (size_t i = 0; i < most; i += every)
            text({at.x + plan.left - 6, y + (static_cast<double>(i) + 0.5) * cell + 4},
                 grid.row_names[i], DrawAnchor::end);
    }
    void column_names(const FigureTile& tile, double cell, double y) const {
        double widest = 0;
        for (const std::string& name : grid.column_names)
            widest = std::max(widest, text_width(name, kFigureText) + 6);
        const bool fit = widest <= cell;
        const auto most = std::min(grid.column_names.size(), static_cast<size_t>(tile.columns));
        const double number = text_width(std::to_string(most), kFigureText) + 6;
        const auto every = fit ? size_t{1} : static_cast<size_t>(std::ceil(number / cell));
        for (size_t i = 0; i < most; i += every)
            text({at.x + plan.left + (static_cast<double>(i) + 0.5) * cell, y - 6},
                 fit ? grid.column_names[i] : std::to_string(i), DrawAnchor::middle);
    }
    void cell_names(double y) const {
        const FigureTile& tile = grid.rows.front().tiles.front();
        const auto cell = static_cast<double>(zoom_of(tile, side_of(grid, plan.columns)));
        row_names(tile, cell * static_cast<double>(tile.stretch), y);
        column_names(tile, cell, y);
    }

    void row(const FigureRow& row, double y) {
        left_words(row, y);
        const ColorKey* const key = row.key ? &*row.key : grid.key ? &*grid.key : nullptr;
        const double side = side_of(grid, plan.columns);
        double x = at.x + plan.left;
        for (const FigureTile& tile : row.tiles) {
            draw_tile(to, ink, tile, {{x, y}, side, key});
            x += plan.tile_width + kGap;
        }
        if (!row.key) return;
        const double height = std::min(plan.tile_height, 120.0);
        draw_key(to, ink, *row.key,
                 {at.x + plan.left + columns_width() + 8, y + (plan.tile_height - height) / 2, kBar,
                  height});
    }
    [[nodiscard]] double columns_width() const {
        return static_cast<double>(plan.columns) * (plan.tile_width + kGap) - kGap;
    }
    void heads(double y) {
        double x = at.x + plan.left;
        for (const std::string& label : grid.column_labels) {
            text({x + plan.tile_width / 2, y}, label, DrawAnchor::middle);
            x += plan.tile_width + kGap;
        }
    }
};

}  // namespace

DrawBox draw_grid(FigureDrawing& to, const FigureInk& ink, const FigureGrid& grid, DrawPoint at) {
    GridPen pen{to, ink, grid, plan_of(grid), at};
    const GridPlan& plan = pen.plan;
    double y = at.y;
    if (!grid.title.empty()) {
        to.marks.emplace_back(TextMark{.at = {at.x, y + 13},
                                       .words = grid.title,
                                       .size = 13,
                                       .ink = ink.colors.text1,
                                       .is_bold = true});
        y += 24;
    }
    if (!grid.column_labels.empty()) {
        pen.heads(y + 11);
        y += kLabel;
    }
    double right = at.x + plan.left + pen.columns_width() + plan.right;
    if (!grid.column_names.empty()) y += kLabel;
    if (!grid.row_names.empty() || !grid.column_names.empty()) pen.cell_names(y);
    for (const FigureRow& row : grid.rows) {
        if (plan.has_tile_labels) y += kLabel;
        pen.row(row, y);
        y += plan.row_height - (plan.has_tile_labels ? kLabel : 0);
    }
    if (!grid.x_title.empty()) {
        pen.text({at.x + plan.left + plan.tile_width / 2, y + 11}, grid.x_title,
                 DrawAnchor::middle);
        y += kLabel;
    }
    if (grid.key) {
        const DrawBox box{at.x + plan.left, y + 8, kSharedBar, kBar};
        draw_key(to, ink, *grid.key, box);
        y = box.bottom() + 18;
        right = std::max(right, box.right());
    }
    return {at.x, at.y, right - at.x, y - at.y};
}

int64_t reduce_tile(FigureTile& tile, int64_t most) {
    const int64_t longer = std::max(tile.rows, tile.columns);
    const int64_t n = (longer + most - 1) / most;
    if (n <= 1) return 1;
    const int64_t rows = (tile.rows + n - 1) / n, columns = (tile.columns + n - 1) / n;
    std::vector<float> values(static_cast<size_t>(rows * columns), std::nanf(""));
    for (int64_t y = 0; y < tile.rows; ++y)
        for (int64_t x = 0; x < tile.columns; ++x) {
            const float v = tile.values[static_cast<size_t>(y * tile.columns + x)];
            float& to = values[static_cast<size_t>(y / n * columns + x / n)];
            if (std::isnan(to) || std::abs(v) > std::abs(to)) to = v;
        }
    tile.values = std::move(values);
    tile.rows = rows;
    tile.columns = columns;
    return n;
}

}  // namespace aft
