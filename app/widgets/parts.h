// Parts: what panels are made of beside controls: section heads, key-value rows, captions, hover
// line, empty state, banner, progress line, chips, tooltips, flowing text. Text at a place is
// viz/text.h. Window thread, inside a frame.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/widgets.h"

namespace aft::app {

// One line of text; recorded as "label" only by the functions that say so.
void text(const DrawContext& ui, std::string_view words, const TextStyle& style);
void text_wrapped(const DrawContext& ui, std::string_view words, float size, ImU32 color);

// Head of a section (15 SemiBold) with a note at the right in text 3; begins the label path's
// Section. `line` draws the hairline above (all but the first of a pane).
void section(DrawContext& ui, const WidgetName& title, std::string_view note = {},
             bool line = true);
// Label in the label column (104 wide unless given); the next control takes the rest of the line.
void label_column(DrawContext& ui, std::string_view words, float column = 104,
                  std::string_view tip = {});
// One row of 20: key in text 2, value right in text 1, unit behind it in text 3. Recorded as
// "value".
void key_value(DrawContext& ui, const WidgetName& key, std::string_view value,
               std::string_view unit = {});
void hint(DrawContext& ui, std::string_view words);  // wrapped, 14, text 3

// Caption of a map (24 high): quantity in SemiBold, the rest in text 2.
void caption(DrawContext& ui, std::string_view quantity, std::string_view rest);

struct ReadOut {
    std::string label;
    std::string value;
    std::string exact{};  // for the clipboard, when `value` is rounded
};
// Height that is left for the canvas above the hover line, in pixels.
[[nodiscard]] float canvas_height(const DrawContext& ui);
// The line at the foot of the canvas (28 high, raised). Draw it last. "Copy values" takes its text.
void hover_line(DrawContext& ui, std::span<const ReadOut> values, std::string_view right = {});

enum class Drawing {
    grid,
    curve,
    picture,
    layers,
    flask,
    compare
};  // outline drawings of empty states
struct EmptyState {
    Drawing drawing = Drawing::grid;
    std::string title{}, sentence{};
    std::string primary{}, secondary{};  // ids of actions; "" = none
    std::string hint{};
    std::string primary_words{},
        secondary_words{};  // text on the buttons, when not the action's name
};
void empty_state(Ui& ui, const EmptyState& spec);

struct Banner {
    ToastKind kind = ToastKind::error;
    std::string title{}, sentence{};
    std::vector<std::string> actions{};  // ids of actions, as buttons
};
void banner(Ui& ui, const Banner& spec);

// 2 px line at the pane's top and words; fraction < 0 = unknown. True if Cancel was pressed (only
// with `cancel`).
bool progress_line(DrawContext& ui, std::string_view words, double fraction, bool cancel = false);
void progress_bar(const DrawContext& ui, double fraction, ImU32 color, float height = 6);
void chip(DrawContext& ui, const WidgetName& name, const char* icon, ImU32 color);
void hairline(const DrawContext& ui);

struct Tip {
    std::string name{}, key{}, formula{}, sentence{};
};
void tooltip(DrawContext& ui, const Tip& tip);  // for the last item, after 0.4 s

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

[[nodiscard]] ImU32 kind_color(const Theme& theme, ToastKind kind);
[[nodiscard]] const char* kind_icon(ToastKind kind);
[[nodiscard]] ImU32 state_color(const Theme& theme, RunState state);
[[nodiscard]] const char* state_icon(RunState state);
[[nodiscard]] RunState shown_state(
    const Status& status);  // a pause after a failed step is an error

}  // namespace aft::app
