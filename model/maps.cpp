#include "model/maps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft {

namespace {

using nlohmann::json;

constexpr size_t kMostMapName = 200;

struct MapLayoutWord {
    BiasLayout layout;
    const char* word;
};
constexpr std::array kMapLayoutWords{MapLayoutWord{BiasLayout::matrix, "full"},
                                     MapLayoutWord{BiasLayout::band, "band"},
                                     MapLayoutWord{BiasLayout::kernel_1d, "kernel1d"},
                                     MapLayoutWord{BiasLayout::kernel_2d, "kernel2d"}};

void check_map_keys(const json& object, const std::vector<std::string>& known,
                    const std::string& where) {
    if (!object.is_object()) fail("{}: must be an object, found {}", where, found_json(object));
    for (const auto& [key, value] : object.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            fail("{}: unknown key '{}'; allowed: {}", where, shown(key), fmt::join(known, ", "));
}

const json& map_member(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) fail("{}: key '{}' is missing", where, key);
    return *found;
}

std::string map_text(const json& object, const char* key, const std::string& where) {
    const json& value = map_member(object, key, where);
    if (!value.is_string()) fail("{}.{}: must be a text, found {}", where, key, found_json(value));
    return value.get<std::string>();
}

std::string map_name(const json& object, const std::string& where) {
    const std::string name = map_text(object, "name", where);
    if (name.empty() || name.size() > kMostMapName || printable_line(name) != name)
        fail("{}.name: found '{}' ({} bytes); allowed: 1 to {} bytes without control characters",
             where, shown(name), name.size(), kMostMapName);
    return name;
}

BiasLayout map_layout(const json& object, const std::string& where) {
    const std::string word = map_text(object, "layout", where);
    for (const MapLayoutWord& known : kMapLayoutWords)
        if (word == known.word) return known.layout;
    fail("{}.layout: found '{}', allowed: full, band, kernel1d, kernel2d", where, shown(word));
}

bool map_is_free(const json& object, const std::string& where) {
    const std::string word = map_text(object, "gauge", where);
    if (word != "row" && word != "none")
        fail("{}.gauge: found '{}', allowed: row, none", where, shown(word));
    return word == "row";
}

void read_map_grid(const json& object, const std::string& where, MapLayer& layer) {
    const json& grid = map_member(object, "grid", where);
    const auto refuse = [&] {
        fail(
            "{}.grid: found {}; allowed: [T], [H, W] or [H, W, C] of whole numbers from 1 on, T = "
            "H x W x C up to {}",
            where, found_json(grid), kMostMapTokens);
    };
    if (!grid.is_array() || grid.empty() || grid.size() > 3) refuse();
    std::vector<int64_t> sides;
    int64_t product = 1;
    for (const json& side : grid) {
        const bool is_side = side.is_number_integer() && side.get<int64_t>() >= 1 &&
                             side.get<int64_t>() <= kMostMapTokens;
        if (!is_side) refuse();
        sides.push_back(side.get<int64_t>());
        product *= sides.back();  // at most kMostMapTokens^3
        if (product > kMostMapTokens) refuse();
    }
    layer.axes = static_cast<int>(sides.size());
    if (sides.size() == 1) {
        layer.width = sides[0];
        return;
    }
    layer.height = sides[0];
    layer.width = sides[1];
    if (sides.size() == 3) layer.channels = sides[2];
}

MapLayer map_layer(const json& object, const std::string& where) {
    check_map_keys(object, {"name", "layout", "grid", "gauge"}, where);
    MapLayer layer;
    layer.name = map_name(object, where);
    layer.layout = map_layout(object, where);
    layer.free_rows = map_is_free(object, where);
    read_map_grid(object, where, layer);
    if (layer.layout == BiasLayout::kernel_2d && layer.axes == 1)
        fail("{}.grid: found {}; a kernel2d slides over rows and columns: [H, W] or [H, W, C]",
             where, found_json(object.at("grid")));
    return layer;
}

}  // namespace

std::vector<int64_t> MapLayer::grid() const {
    if (axes == 1) return {width};
    if (axes == 2) return {height, width};
    return {height, width, channels};
}

MapLayer MapsConfig::longest() const {
    const auto found = std::max_element(
        layers.begin(), layers.end(),
        [](const MapLayer& a, const MapLayer& b) { return a.tokens() < b.tokens(); });
    return found == layers.end() ? MapLayer{} : *found;
}

MapsConfig maps_from_json(const json& object, const std::string& where) {
    check_map_keys(object, {"causal", "layers"}, where);
    MapsConfig maps;
    if (const auto causal = object.find("causal"); causal != object.end()) {
        if (!causal->is_boolean())
            fail("{}.causal: must be true or false, found {}", where, found_json(*causal));
        maps.causal = causal->get<bool>();
    }
    const json& layers = map_member(object, "layers", where);
    if (!layers.is_array())
        fail("{}.layers: must be an array of objects, found {}", where, found_json(layers));
    if (layers.empty() || layers.size() > static_cast<size_t>(kMostMapLayers))
        fail("{}.layers: found {} layers, allowed: 1 to {}", where, layers.size(), kMostMapLayers);
    for (size_t i = 0; i < layers.size(); ++i)
        maps.layers.push_back(map_layer(layers[i], fmt::format("{}.layers[{}]", where, i)));
    return maps;
}

json maps_to_json(const MapsConfig& maps) {
    json layers = json::array();
    for (const MapLayer& layer : maps.layers) {
        layers.push_back({{"name", layer.name},
                          {"layout", map_layout_word(layer.layout)},
                          {"grid", layer.grid()},
                          {"gauge", layer.free_rows ? "row" : "none"}});
    }
    return {{"causal", maps.causal}, {"layers", std::move(layers)}};
}

const char* map_layout_word(BiasLayout layout) {
    for (const MapLayoutWord& known : kMapLayoutWords)
        if (layout == known.layout) return known.word;
    return "none";
}

}  // namespace aft
