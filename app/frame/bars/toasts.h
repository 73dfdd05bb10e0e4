// Draws the toasts: short messages at the right, above the timeline. Window thread, inside a frame.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

void draw_toasts(Ui& ui);

}  // namespace aft::app
