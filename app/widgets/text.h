// Text of panes: lines, section heads, rows of values, captions, the hover line. Text at a place is
// viz/text.h. Window thread, inside a frame.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/state/draw_context.h"

namespace aft::app {

// One line of text; recorded as "label" only by the functions that say so.
void text(const DrawContext& ui, std::string_view words, const TextStyle& style);
void text_wrapped(const DrawContext& ui, std::string_view words, float size, ImU32 color);

void hairline(const DrawContext& ui);

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
// The same where a very low pane leaves out its hover line: below `least` pixels the canvas takes
// all that is left.
struct LowCanvas {
    float height = 0;
    bool has_line = true;
};
[[nodiscard]] LowCanvas low_canvas(const DrawContext& ui, float least);
// The line at the foot of the canvas (28 high, raised). Draw it last. "Copy values" takes its text,
// or that of `locked`, where something is locked and the line previews another place.
void hover_line(DrawContext& ui, std::span<const ReadOut> values, std::string_view right = {},
                std::span<const ReadOut> locked = {});

}  // namespace aft::app
