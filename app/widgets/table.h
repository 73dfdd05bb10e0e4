// Table: rows of cells under a head. Window thread, inside a frame.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/state/draw_context.h"

namespace aft::app {

// Table: 26 px rows, head in text 3 with one hairline, numbers right.
struct Column {
    std::string title;
    float width = 0;  // 0 = share the rest
    bool right = false;
};
struct TableRow {
    WidgetName name;  // recorded
    std::vector<std::string> cells{};
    bool selected = false;
};
// Index of the row pressed, -1 = none.
int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          std::span<const TableRow> rows);

}  // namespace aft::app
