// A setting that the user changes in a control: sent to the session, and kept for undo. Window
// thread.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// before, after: as a row of Config writes them.
void set_by_hand(PaneContext& ui, const std::string& key, std::string before, std::string after);

}  // namespace aft::app
