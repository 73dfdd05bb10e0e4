// What undo knows of how maps are drawn: whoever has changed it (a click, a key, the menu, a
// script), the frame notes it when it has been drawn. Window thread.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

// Once a frame, after everything that may change it.
void note_look(ViewState& ui, double time);
// Only what differs between the two.
void show_change(ViewState& ui, const LookChange& change);
// When the left mouse button went down that is down, or goes up in this frame; -1 = it is not.
[[nodiscard]] double press_time();

}  // namespace aft::app
