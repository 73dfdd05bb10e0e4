// Actions of the window itself: opening, workspaces, palette, themes, size, layout. Window thread.
#pragma once
#include "app/frame/frame_tools.h"

namespace aft::app {

void add_frame_actions(Actions& actions, FrameTools& tools);

}  // namespace aft::app
