#include "app/panels/complete/sample_grid.h"

#include <algorithm>
#include <cmath>

namespace aft::app {
namespace {

GridFit fit_grid(size_t count, ImVec2 picture, ImVec2 area, ImVec2 extra) {
    GridFit best{.columns = 1, .zoom = 0};
    for (int columns = 1; columns <= static_cast<int>(count); ++columns) {
        const auto rows = static_cast<float>((static_cast<int>(count) + columns - 1) / columns);
        const float width = area.x / static_cast<float>(columns) - extra.x;
        const float height = area.y / rows - extra.y;
        const int zoom = static_cast<int>(std::min(width / picture.x, height / picture.y));
        if (zoom > best.zoom) best = {columns, zoom};
    }
    return best;
}

}  // namespace

GridFit readable_grid(size_t count, ImVec2 picture, ImVec2 area, const GridExtra& extra) {
    const GridFit all = fit_grid(count, picture, area, extra.extra);
    const int least = std::max(2, static_cast<int>(std::ceil(extra.least / picture.x)));
    if (all.zoom >= least) return all;
    const float pitch = static_cast<float>(least) * picture.x + extra.extra.x;
    return {std::clamp(static_cast<int>(area.x / pitch), 1, static_cast<int>(count)), least};
}

}  // namespace aft::app
