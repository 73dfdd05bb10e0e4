// Table: rows of cells under a head. Window thread, inside a frame.
#pragma once
#include <functional>
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
    std::string sort_id{};  // pressing the head sorts by it; "" = it does not
    std::string tip{};      // of a head that sorts: what its numbers are
    std::string group{};    // stands over neighbours that share it; "" = none
    std::string shown{};    // in the head, below its group; "" = the title
};
struct TableRow {
    WidgetName name;  // recorded
    std::vector<std::string> cells{};
    bool selected = false;
    // Of its cells, for those who save them; NaN, or none: what the cell's words say.
    std::vector<double> values{};
    // Of the first cell where that is shortened: the row's tooltip, and what is saved.
    std::string full{};
};
// Index of the row pressed, -1 = none.
int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          std::span<const TableRow> rows);

// What its heads and its first cells need to be legible, in pixels.
[[nodiscard]] float least_table_width(const DrawContext& ui, std::span<const Column> columns,
                                      std::span<const TableRow> rows);

// In a frame whose numbers are saved: hands this one over. A table does it itself.
void save_table(const DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
                std::span<const TableRow> rows);

struct SortedRows {
    std::span<const TableRow> rows;  // as the caller has sorted them
    int* by;                         // the column that they are sorted by, -1 = their own order
};
// The same; a press on a head with a `sort_id` changes `by`, another one changes it back.
int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          const SortedRows& rows);

struct LazyRows {
    size_t count = 0;
    const std::function<TableRow(size_t)>& row;  // makes one; only those in view are made
    int* by;                                     // as of SortedRows
    float most_height = 0;                       // of all rows, at scale 1: more scroll below heads
};
// The same for thousands of rows.
int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          const LazyRows& rows);

}  // namespace aft::app
