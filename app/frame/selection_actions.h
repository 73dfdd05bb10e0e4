// Actions on the selection: layer, head, quantity, range, pins, the shown step. Window thread.
#pragma once
#include "app/frame/frame_tools.h"

namespace aft::app {

void add_selection_actions(Actions& actions, FrameTools& tools);

}  // namespace aft::app
