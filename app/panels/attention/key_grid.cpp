#include "app/panels/attention/key_grid.h"

#include <algorithm>

namespace aft::app {

KeyGrid fullest_grid(const viz::AtlasShape& shape, ImVec2 area, const viz::Look& look) {
    KeyGrid best{shape.columns, 1, shape.columns};
    float most = 0;
    for (int lines = 1; lines <= 3; ++lines)
        for (int columns = shape.columns / lines; columns >= 1; --columns) {
            viz::AtlasShape tried = shape;
            tried.columns = columns;
            tried.rows = shape.rows * lines;
            tried.cell_label = lines > 1 ? look.px(22) : 0;
            const viz::AtlasLayout layout = layout_atlas(tried, area, look.scale);
            const float covered = layout.tile.x * layout.tile.y * float(columns * lines);
            const bool fits = layout.size.x <= area.x + 1 && layout.size.y <= area.y;
            if (!fits || covered <= most) continue;
            most = covered;
            best = {columns, lines, shape.columns};
        }
    return best;
}

}  // namespace aft::app
