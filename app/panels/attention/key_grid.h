// How the key maps of all layers share the canvas: few layers get several lines of larger maps.
// Pure functions; window thread.
#pragma once
#include "viz/atlas.h"

namespace aft::app {

struct KeyGrid {
    int columns = 1, lines = 1;  // of one layer
    int all = 1;                 // maps there are of a layer
    [[nodiscard]] size_t shown() const { return size_t(columns * lines); }
    // The map at a place of a layer, evenly spread over those there are.
    [[nodiscard]] size_t map_at(size_t place) const { return place * size_t(all) / shown(); }
};

// So many columns and lines a layer that the maps cover most of the area. `shape`: rows = layers,
// columns = maps there are of a layer.
[[nodiscard]] KeyGrid fullest_grid(const viz::AtlasShape& shape, ImVec2 area,
                                   const viz::Look& look);

}  // namespace aft::app
