#include "app/panels/shared/layer_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace aft::app {
namespace {

// "" where it says no more than the number.
std::string own_name(const Status& status, int64_t layer) {
    const std::vector<MapLayer>& maps = status.config.model.maps.layers;
    if (layer < 0 || layer >= static_cast<int64_t>(maps.size())) return "";
    const std::string& name = maps[static_cast<size_t>(layer)].name;
    return name == fmt::format("layer {}", layer) ? "" : name;
}

}  // namespace

bool has_layer_names(const Status& status) {
    const auto count = static_cast<int64_t>(status.config.model.maps.layers.size());
    for (int64_t layer = 0; layer < count; ++layer)
        if (!own_name(status, layer).empty()) return true;
    return false;
}

std::string layer_words(const Status& status, int64_t layer) {
    const std::string name = own_name(status, layer);
    return name.empty() ? std::to_string(layer) : fmt::format("{}, {}", layer, name);
}

}  // namespace aft::app
