// The row of tools above a canvas: nothing of it vanishes in a narrow pane, the end of the row
// moves into a popup behind "More tools". Window thread, inside a frame.
#pragma once
#include <functional>
#include <span>

#include "app/state/draw_context.h"

namespace aft::app {

struct Tool {
    float width = 0;             // at scale 1, with the space before it
    std::function<void()> draw;  // a control, with its label before it
};
// Continues the line of the last control; `available` is what is left of it, in pixels.
void tool_row(DrawContext& ui, float available, std::span<const Tool> tools);
void inline_label(DrawContext& ui,
                  std::string_view words);  // stands before a control on the same line

}  // namespace aft::app
