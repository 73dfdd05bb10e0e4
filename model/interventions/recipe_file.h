// Recipes as files: JSON (docs/interventions.md). Blocks on the file. Any thread. No LibTorch.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/recipe.h"

namespace aft {

class Net;

// usage Error that begins with the file: what is no recipe, a room, option or value that is not
// known, a number out of its range. Layers and heads are checked when it is applied.
[[nodiscard]] Recipe read_recipe_file(const std::string& path);
// The recipe of a file to a net; "" = none. usage Errors begin with the file.
void apply_recipe_file(Net& net, const std::string& path);
// The same as values: what a file holds. usage Error as read_recipe_file, without the file.
[[nodiscard]] Recipe recipe_from_json(const nlohmann::json& json);
[[nodiscard]] nlohmann::ordered_json recipe_to_json(const Recipe& recipe, const std::string& model);
// Atomic. model: what it was made for, in a line; for people alone.
void write_recipe_file(const std::string& path, const Recipe& recipe, const std::string& model);

}  // namespace aft
