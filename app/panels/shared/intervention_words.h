// What the program knows of interventions, and one in a line. Pure functions; window thread.
#pragma once
#include <string>
#include <vector>

#include "model/recipe.h"

namespace aft::app {

[[nodiscard]] const std::vector<InterventionInfo>& all_interventions();
[[nodiscard]] const InterventionInfo* info_of(const Intervention& one);  // null: unknown name
// "0.5", "the same", "this model": a number that stands for something is said in words.
[[nodiscard]] std::string option_words(const Intervention& one, const std::string& key,
                                       const std::string& value);
// "# blur layer=2 sigma=0.5 x0.50"
[[nodiscard]] std::string recipe_line(const Intervention& one);

}  // namespace aft::app
