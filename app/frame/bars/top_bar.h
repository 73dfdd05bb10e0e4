// The top bar: mark, menus, workspaces, palette. Window thread, inside a frame.
#pragma once
#include "app/frame/layouts.h"

namespace aft::app {

void draw_top_bar(Ui& ui, const FrameAreas& areas, ImVec2 display);

}  // namespace aft::app
