// The status bar: state, step, speed, costs, memory, the last message. Window thread, inside a
// frame.
#pragma once
#include "app/frame/layouts.h"

namespace aft::app {

void draw_status_bar(Ui& ui, const FrameAreas& areas, ImVec2 display);

}  // namespace aft::app
