// What a person says about runs and pins: a name, a tag, a note; and taking them off their lists.
// Behind a button on their rows. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// The button at `at` (26 x 26), and what it opens. The cursor stays where it was. Its row allows
// overlap.
void run_menu(PaneContext& ui, const RecentItem& item, ImVec2 at);
// The same of a pin. False: it is to be removed.
[[nodiscard]] bool pin_menu(PaneContext& ui, Pin& pin, size_t index, ImVec2 at);
// Of the row drawn last: tag and note, where there are any, and the path.
void run_tooltip(PaneContext& ui, const std::string& path, const std::string& name);
[[nodiscard]] std::string run_tag(const ViewState& ui, const std::string& path);

}  // namespace aft::app
