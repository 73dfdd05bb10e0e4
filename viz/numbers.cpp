#include "viz/numbers.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "viz/atlas.h"
#include "viz/curves.h"

namespace aft::viz {

static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void NumberSink::add(std::string_view name, NumberTable table) {
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    std::string path = pane();
    if (!path.empty()) path += '.';
    // Of "Words##id" the id.
    const size_t id = name.rfind("##");
    for (const char c : id == std::string_view::npos ? name : name.substr(id + 2))
        path += is_plain(static_cast<unsigned char>(c)) ? c : '_';
    const auto is_taken = [&](const std::string& wanted) {
        return std::any_of(tables_.begin(), tables_.end(),
                           [&](const NumberTable& other) { return other.name == wanted; });
    };
    table.name = path;
    for (int i = 2; is_taken(table.name); ++i) table.name = path + "_" + std::to_string(i);
    tables_.push_back(std::move(table));
}

NumberTable map_numbers(const MapData& map) {
    NumberTable out{.name = {}, .shape = {map.rows, map.columns}, .values = {}};
    out.values.assign(map.values.begin(), map.values.end());
    for (size_t i = 0; i < std::min(map.hidden.size(), out.values.size()); ++i)
        if (map.hidden[i] != 0) out.values[i] = kNone;
    return out;
}

NumberTable atlas_numbers(const AtlasView& view) {
    const AtlasShape& shape = view.shape;
    NumberTable out{.name = {},
                    .shape = {int64_t(view.cells.size()), shape.tile_rows, shape.tile_columns},
                    .values = {}};
    const auto values = size_t(shape.tile_rows * shape.tile_columns);
    out.values.assign(view.cells.size() * values, kNone);
    for (size_t i = 0; i < view.cells.size(); ++i) {
        const MapData& map = view.cells[i].data;
        if (map.values.empty()) continue;
        for (int64_t row = 0; row < std::min(map.rows, shape.tile_rows); ++row)
            for (int64_t column = 0; column < std::min(map.columns, shape.tile_columns); ++column)
                if (!map.is_hidden(row, column))
                    out.values[i * values + size_t(row * shape.tile_columns + column)] =
                        map.at(row, column);
    }
    return out;
}

void add_curves(const CurvePlot& plot, NumberSink& to) {
    for (const Curve& curve : plot.curves) {
        const size_t count = std::min(curve.x.size(), curve.y.size());
        NumberTable table{.name = {}, .shape = {int64_t(count), 2}, .values = {}};
        for (size_t i = 0; i < count; ++i) {
            table.values.push_back(curve.x[i]);
            table.values.push_back(curve.y[i]);
        }
        const std::string id = plot.id;
        to.add(curve.label.empty() ? id : id + "_" + curve.label, std::move(table));
    }
}

}  // namespace aft::viz
