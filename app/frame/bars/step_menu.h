// The menu of a step on the timeline, by the right button. Window thread, inside a frame.
#pragma once
#include <cstdint>

#include "app/state/ui.h"

namespace aft::app {

// In the popup "pin": the note of the step, and what can be done with the stored step nearest to
// it, which is shown by now.
void draw_step_menu(Ui& ui, int64_t step);

}  // namespace aft::app
