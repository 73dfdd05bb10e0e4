// Where the data of the open model lie: choosing another folder for them, and remembering it.
// Window thread; looks at the disk only when a folder is chosen or the data were not found.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// The open model takes its data from there, now and the next time it is opened.
void choose_data(PaneContext& ui, const std::string& path);
// After the data were not found: the place that was chosen for them before. False: none.
bool use_remembered_data(PaneContext& ui);
[[nodiscard]] std::string why_not_choose_data(const ModelView& ui);  // "" = they can be elsewhere
void add_data_actions(Actions& actions);

}  // namespace aft::app
