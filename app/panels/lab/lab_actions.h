// The actions of the Lab. Window thread.
#pragma once
#include <functional>

#include "app/state/ui.h"

namespace aft::app {

// Adds one of that name for the selected layer, and where the model has several for the selected
// head, as one undo step; it is the chosen one then.
void add_intervention(ViewState& ui, const std::string& name);

// open_list: shows what can be added, in the next frame of the pane.
void add_lab_actions(Actions& actions, const std::function<void()>& open_list);

}  // namespace aft::app
