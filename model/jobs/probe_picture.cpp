#include "model/jobs/probe_picture.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.h"
#include "core/figure/quantity.h"

namespace aft {

namespace {

constexpr int64_t kMostTiles = 256, kMostCells = 512, kMostTileCells = 128;

std::string note_of(const Field& field, const std::string& key) {
    const auto found = field.notes.find(key);
    return found == field.notes.end() ? "" : found->second;
}

// Rows and columns of a map of the field.
struct MapShape {
    int64_t rows = 1, columns = 1, maps = 1;
    bool is_folded = false;
};

MapShape shape_of(const ProbePicture& picture) {
    const Field& field = picture.field;
    MapShape shape;
    shape.columns = field.shape.empty() ? 1 : field.shape.back();
    const int64_t cells = picture.fold_height * picture.fold_width;
    const int64_t before = picture.sources_before;
    if (cells > 0 && (shape.columns == cells || shape.columns == cells + before)) {
        shape.maps = field.size() / std::max<int64_t>(shape.columns, 1);
        shape.rows = picture.fold_height;
        shape.columns = picture.fold_width;
        shape.is_folded = true;
        return shape;
    }
    if (field.shape.size() > 1) shape.rows = field.shape[field.shape.size() - 2];
    shape.maps = field.size() / std::max<int64_t>(shape.rows * shape.columns, 1);
    return shape;
}

float value_at(const ProbePicture& picture, size_t at) {
    const float v = picture.field.values[at];
    if (picture.marked && std::isnan(picture.marked->values[at])) return std::nanf("");
    return v;
}

FigureTile tile_of(const ProbePicture& picture, const MapShape& shape, int64_t map) {
    FigureTile tile;
    tile.rows = shape.rows;
    tile.columns = shape.columns;
    tile.stretch = shape.is_folded ? picture.stretch : 1;
    tile.values.assign(static_cast<size_t>(shape.rows * shape.columns), std::nanf(""));
    const int64_t row = shape.is_folded ? picture.field.shape.back() : shape.rows * shape.columns;
    const int64_t first = shape.is_folded ? picture.sources_before : 0;
    for (int64_t i = 0; i < shape.rows * shape.columns && first + i < row; ++i)
        tile.values[static_cast<size_t>(i)] =
            value_at(picture, static_cast<size_t>(map * row + first + i));
    return tile;
}

// What the rows and columns of a tile are.
void set_titles(FigureGrid& grid, const Field& field, const MapShape& shape) {
    const auto title = [&](size_t from_last) -> std::string {
        if (field.axes.size() < from_last) return "";
        const std::string& axis = field.axes[field.axes.size() - from_last];
        return axis == "target" || axis == "source" ? axis + "s" : axis;
    };
    if (shape.is_folded) {
        if (shape.maps > 1) return;  // a note says it of all of them
        grid.x_title = "columns of " + title(1);
        grid.y_title = "rows of " + title(1);
        return;
    }
    grid.x_title = title(1);
    grid.y_title = title(2);
}

int64_t across_of(int64_t tiles) {
    if (tiles <= 4) return tiles;
    return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(std::sqrt(double(tiles)))), 4, 16);
}

// "heads 0 to 3", of the maps of a row from the left.
std::string maps_label(const std::string& axis, int64_t first, int64_t last) {
    if (axis.empty()) return "";
    return first == last ? fmt::format("{} {}", axis, first)
                         : fmt::format("{}s {} to {}", axis, first, last);
}

// Where the sources of a map lie, and which of them have no place in it.
void add_fold_notes(FigureScene& scene, const ProbePicture& picture, const MapShape& shape) {
    if (!shape.is_folded) return;
    if (shape.maps > 1)
        scene.notes.push_back(
            fmt::format("Each map has the sources as they lie in the picture: {} "
                        "rows, {} columns",
                        shape.rows, shape.columns));
    const int64_t before = picture.sources_before;
    const int64_t row = picture.field.shape.empty() ? 1 : picture.field.shape.back();
    if (before == 0) return;
    std::vector<float> left_out;
    for (int64_t map = 0; map < shape.maps; ++map)
        for (int64_t i = 0; i < before; ++i)
            left_out.push_back(value_at(picture, static_cast<size_t>(map * row + i)));
    scene.notes.push_back(
        fmt::format("Left out, as it has no place in the picture: {} ({}; values {})",
                    picture.before_words.empty() ? "what stands before it" : picture.before_words,
                    before == 1 ? "source 0" : fmt::format("sources 0 to {}", before - 1),
                    span_words(value_span(left_out))));
}

void add_maps(FigureScene& scene, const ProbePicture& picture, const MapShape& shape) {
    const Field& field = picture.field;
    const QuantityStyle style = quantity_style(note_of(field, "quantity"), field.unit);
    const int64_t tiles = std::min(shape.maps, kMostTiles), across = across_of(tiles);
    FigureGrid grid;
    grid.width = tiles == 1 ? 560 : 1000;
    set_titles(grid, field, shape);
    std::vector<float> all;
    int64_t block = 1;
    const std::string axis = field.axes.empty() || shape.maps == 1 ? "" : field.axes.front();
    for (int64_t map = 0; map < tiles; ++map) {
        if (map % across == 0)
            grid.rows.push_back({maps_label(axis, map, std::min(map + across, tiles) - 1), {}, {}});
        FigureTile tile = tile_of(picture, shape, map);
        all.insert(all.end(), tile.values.begin(), tile.values.end());
        block = reduce_tile(tile, tiles == 1 ? kMostCells : kMostTileCells);
        grid.rows.back().tiles.push_back(std::move(tile));
    }
    // As the window starts: a row of shares is shown up to its largest.
    const double percentile =
        picture.rows_over_sources && field.unit == "share" ? 100 : kMapPercentile;
    grid.key = color_key(style, all, percentile);
    scene.notes.push_back(fmt::format("Colours: {}; values {}{}", scale_words(style, percentile),
                                      span_words(value_span(all)),
                                      field.unit.empty() ? "" : ", unit " + field.unit));
    add_fold_notes(scene, picture, shape);
    if (tiles < shape.maps)
        scene.notes.push_back(fmt::format("The first {} of {} maps", tiles, shape.maps));
    if (block > 1)
        scene.notes.push_back(
            fmt::format("A cell is the value of largest magnitude of {0} x {0}", block));
    scene.parts.emplace_back(std::move(grid));
}

void add_curve(FigureScene& scene, const ProbePicture& picture) {
    const Field& field = picture.field;
    FigurePlot plot;
    plot.x_label = field.axes.empty() ? "" : field.axes.back();
    const std::string quantity = note_of(field, "quantity");
    plot.y_label = (quantity.empty() ? field.name : quantity_style(quantity, field.unit).words) +
                   (field.unit.empty() ? "" : ", " + field.unit);
    FigureSeries series;
    std::vector<float> seen;
    for (size_t i = 0; i < field.values.size(); ++i) {
        series.x.push_back(static_cast<double>(i));
        seen.push_back(value_at(picture, i));
        series.y.push_back(double{seen.back()});
    }
    series.has_dots = field.values.size() <= 40;
    scene.notes.push_back("Values " + span_words(value_span(seen)));
    plot.series.push_back(std::move(series));
    scene.parts.emplace_back(std::move(plot));
}

// An option of a probe as a reader of the picture says it; "" = nothing to say.
std::string option_words(const std::string& key, const std::string& value) {
    static const std::map<std::string, std::string> words{
        {"part both", "position bias and content"},
        {"part prior", "position bias alone"},
        {"part content", "content alone"},
        {"reduce none", ""},
        {"reduce mean", "mean of the channels"},
        {"reduce gate", "mean of the channels, weighted by the gate"}};
    if (key == "position") return "target " + value;
    const auto found = words.find(key + " " + value);
    return found == words.end() ? key + ": " + value : found->second;
}

// What the field itself says, "position bias and content; target 100".
std::string field_words(const Field& field) {
    std::vector<std::string> words;
    for (const auto& [key, value] : field.notes)
        if (std::string one = option_words(key, value); !one.empty())
            words.push_back(std::move(one));
    return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

FigureScene probe_figure(const ProbePicture& picture) {
    FigureScene scene;
    scene.title = picture.title;
    scene.notes = picture.notes;
    if (const std::string words = field_words(picture.field); !words.empty())
        scene.notes.push_back(words);
    const MapShape shape = shape_of(picture);
    if (shape.rows == 1 && shape.maps == 1)
        add_curve(scene, picture);
    else
        add_maps(scene, picture, shape);
    return scene;
}

}  // namespace aft
