#include "app/figures/parts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs/probe.h"

namespace aft::app {

namespace {

void check_option(const FigureRoom& room, const std::string& key, const std::string& value) {
    std::vector<std::string> known;
    for (const ProbeOption& option : room.options) {
        known.push_back(option.key);
        if (option.key != key) continue;
        if (option.values.empty() ||
            std::find(option.values.begin(), option.values.end(), value) != option.values.end())
            return;
        fail_usage("figure {}: option {}: found '{}', allowed: {}", room.info.name, key,
                   shown(value), fmt::join(option.values, ", "));
    }
    fail_usage("figure {} has no option '{}'; allowed: {}", room.info.name, shown(key),
               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

// Of a list of places: each in [0, count), none twice.
std::vector<int64_t> checked(const std::vector<int64_t>& places, int64_t count,
                             const std::string& flag) {
    for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] < 0 || places[i] >= count)
            fail_usage("{}: found {}, allowed: 0 to {}", flag, places[i], count - 1);
        if (std::find(places.begin(), places.begin() + static_cast<ptrdiff_t>(i), places[i]) !=
            places.begin() + static_cast<ptrdiff_t>(i))
            fail_usage("{}: {} stands there twice", flag, places[i]);
    }
    if (places.size() > 64) fail_usage("{}: found {} of them, allowed: 64", flag, places.size());
    return places;
}

// Map number `map` of a field as a tile.
FigureTile tile_of(const Field& field, int64_t map, const LayerMaps& rows) {
    FigureTile tile;
    const size_t axes = field.shape.size();
    tile.columns = rows.columns > 0 ? rows.columns : field.shape.back();
    tile.rows = rows.rows > 0 ? rows.rows : axes > 1 ? field.shape[axes - 2] : 1;
    tile.stretch = rows.stretch;
    tile.hatches_nan = rows.hatches_nan;
    const auto cells = static_cast<size_t>(tile.rows * tile.columns);
    const size_t first = static_cast<size_t>(map) * cells;
    AFT_ASSERT(first + cells <= field.values.size());
    tile.values.assign(field.values.begin() + static_cast<ptrdiff_t>(first),
                       field.values.begin() + static_cast<ptrdiff_t>(first + cells));
    return tile;
}

}  // namespace

FigureResult make_figure(const FigureRequest& request, const JobControl& control) {
    const FigureRoom& room = find_room(figures(), request.figure, "figure");
    if (request.models.empty() || request.models.size() > room.most_models)
        fail_usage("figure {}: found {} models, allowed: {}", room.info.name, request.models.size(),
                   room.most_models == 1 ? "1" : fmt::format("1 to {}", room.most_models));
    for (const auto& [key, value] : request.options) check_option(room, key, value);
    return room.make(request, control);
}

void check_can_show(const FigureRoom& room, const ModelFacts& facts) {
    const std::string why = room.why_not({.mixer = facts.mixer, .task = facts.task});
    if (!why.empty()) fail_usage("figure {}: {}: {}", room.info.name, shown_path(facts.path), why);
}

std::string figure_option(const FigureRoom& room, const FigureRequest& request,
                          const std::string& key) {
    if (const auto given = request.options.find(key); given != request.options.end())
        return given->second;
    for (const ProbeOption& option : room.options)
        if (option.key == key) return option.standard;
    fail_usage("figure {} has no option {}", room.info.name, key);
}

int64_t figure_number_option(const FigureRequest& request, const std::string& key, Range allowed,
                             int64_t standard) {
    const auto given = request.options.find(key);
    if (given == request.options.end()) return standard;
    const std::string& text = given->second;
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto low = static_cast<int64_t>(allowed.low), high = static_cast<int64_t>(allowed.high);
    if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high)
        fail_usage("figure {}: option {}: found '{}', allowed: {} to {}", request.figure, key,
                   shown(text), low, high);
    return value;
}

std::vector<int64_t> chosen_layers(const FigureRequest& request, const ModelFacts& facts) {
    if (!request.layers.empty()) return checked(request.layers, facts.layers, "--layers");
    const int64_t count = std::min(facts.layers, kMostLayers);
    std::vector<int64_t> layers;
    for (int64_t i = 0; i < count; ++i) layers.push_back(i * facts.layers / count);
    return layers;
}

std::vector<int64_t> chosen_heads(const FigureRequest& request, int64_t count) {
    if (!request.heads.empty()) return checked(request.heads, count, "--heads");
    std::vector<int64_t> heads;
    for (int64_t i = 0; i < std::min(count, kMostHeads); ++i) heads.push_back(i);
    return heads;
}

std::string model_words(const ModelFacts& facts) {
    if (facts.task.is_bias_alone)
        return fmt::format("Model {}: {}, {} layers, step {}", printable_line(facts.name),
                           facts.mixer.words, facts.layers, group_thousands(facts.step));
    return fmt::format("Model {}: {}, {} layers of {}, step {}", printable_line(facts.name),
                       facts.mixer.words, facts.layers, facts.dim, group_thousands(facts.step));
}

std::string figure_data(const FigureRequest& request, const ModelFacts& facts) {
    if (!request.data.empty()) return request.data;
    if (facts.data.empty())
        fail_usage("figure {}: {} names no data it was trained on; say --data SPEC", request.figure,
                   shown_path(facts.path));
    return facts.data;
}

ProbeOption option_of(const char* probe, const char* key, const char* standard) {
    const ProbeOption* const row = probe_option(probe, key);
    AFT_ASSERT(row != nullptr);
    ProbeOption out = *row;
    out.standard = standard;
    return out;
}

ProbeOption range_option() {
    return {"range", {"layer", "figure"}, "layer"};
}

void add_map_rows(FigureResult& to, const LayerMaps& rows) {
    FigureGrid grid;
    std::vector<float> all;
    for (const int64_t map : rows.maps)
        grid.column_labels.push_back(fmt::format("{} {}", rows.map_name, map));
    if (rows.maps.size() > 6)  // shorter where there are many
        for (size_t i = 1; i < rows.maps.size(); ++i)
            grid.column_labels[i] = std::to_string(rows.maps[i]);
    for (size_t n = 0; n < rows.layers.size(); ++n) {
        FigureRow row{fmt::format("layer {}", rows.layers[n]), {}, {}};
        std::vector<float> values;
        for (const int64_t map : rows.maps) {
            row.tiles.push_back(tile_of(rows.fields[n], map, rows));
            const std::vector<float>& own = row.tiles.back().values;
            values.insert(values.end(), own.begin(), own.end());
        }
        if (!rows.shares_range) {
            row.key = color_key(rows.style, values, 100);
            to.ranges.push_back({row.label, value_span(values), row.key->coloring.range});
        }
        all.insert(all.end(), values.begin(), values.end());
        grid.rows.push_back(std::move(row));
    }
    if (rows.shares_range) {
        grid.key = color_key(rows.style, all, 100);
        to.ranges.push_back({"figure", value_span(all), grid.key->coloring.range});
    }
    to.scene.notes.push_back(
        fmt::format("Colours: {}, one range for {}; values {}", scale_words(rows.style, 100),
                    rows.shares_range ? "the figure" : "each layer (bars at the right)",
                    span_words(value_span(all))));
    to.scene.parts.emplace_back(std::move(grid));
}

FigureTile picture_tile(Image picture, std::string label) {
    FigureTile tile;
    tile.label = std::move(label);
    tile.rows = picture.height;
    tile.columns = picture.width;
    tile.picture = std::move(picture);
    return tile;
}

}  // namespace aft::app
