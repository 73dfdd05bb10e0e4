// What undo knows of how maps are drawn, of sampling, of the pinned batch and of Compare: whoever
// has changed it (a click, a key, the menu, a script), the frame notes it when it has been drawn.
// Window thread.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// Once a frame, after everything that may change it.
void note_choices(ViewState& ui, double time);
// Only what differs between the two.
void show_change(ViewState& ui, const ChoiceChange& change);
// "train.clip = 1", "quantity", "top-p = 0.9": what was taken back or done again.
[[nodiscard]] std::string change_words(const UserChange& change);
// When the left mouse button went down that is down, or goes up in this frame; -1 = it is not.
[[nodiscard]] double press_time();

}  // namespace aft::app
