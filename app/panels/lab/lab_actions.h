// The actions of the Lab. Window thread.
#pragma once
#include <functional>

#include "app/state/ui.h"

namespace aft::app {

// Adds one of that name for the selected layer, and where the model has several for the selected
// head, as one undo step; it is the chosen one then.
void add_intervention(ViewState& ui, const std::string& name);

// Into the file that the choice names, or one like it where that holds another recipe: lab.file
// then names it. False: it could not be written, which is said.
bool save_recipe(Ui& ui);
// Reads that file.
[[nodiscard]] bool is_recipe_saved(const LabChoice& lab);

// open_list: shows what can be added, in the next frame of the pane.
void add_lab_actions(Actions& actions, const std::function<void()>& open_list);

}  // namespace aft::app
