// Of the right third of Focus: the heads of its parts, and what stands where a map is awaited.
// Window thread, inside a frame.
#pragma once
#include <string_view>

#include "app/state/draw_context.h"
#include "viz/look.h"

namespace aft::app {

// The title, and the rest beside it in text 2; below it where the width is too small. Begins a
// section of the recorder.
void side_heading(DrawContext& ui, const WidgetName& title, std::string_view rest);
// The ground of what is not there yet: hatch would mean that it is masked.
void draw_awaited(const DrawContext& ui, const viz::Box& box, std::string_view words);

}  // namespace aft::app
