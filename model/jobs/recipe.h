// Jobs: what interventions there are, and recipes of them as files. Plain types. No LibTorch. Any
// thread; blocks on the file.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/recipe.h"

namespace aft {

[[nodiscard]] std::vector<InterventionInfo> intervention_list();
// usage Error that begins with the file and says what was found and what is allowed.
[[nodiscard]] Recipe read_recipe(const std::string& path);
// Inside another file: as a recipe's file has it. usage Error without the file.
[[nodiscard]] Recipe parse_recipe(const nlohmann::json& json);
[[nodiscard]] nlohmann::ordered_json recipe_json(const Recipe& recipe);
// Atomic. model: what it was made for, in a line; for people alone.
void write_recipe(const std::string& path, const Recipe& recipe, const std::string& model);

}  // namespace aft
