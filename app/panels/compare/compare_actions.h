// The actions of Compare. Window thread.
#pragma once
#include <functional>

#include "app/state/ui.h"

namespace aft::app {

// open_list: shows what a slot can be chosen from, in the next frame of the pane.
void add_compare_actions(Actions& actions, const std::function<void()>& open_list);

}  // namespace aft::app
