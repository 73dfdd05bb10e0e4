// Recipes as files: JSON (docs/interventions.md). Blocks on the file. Any thread. No LibTorch.
#pragma once
#include <string>

#include "model/recipe.h"

namespace aft {

class Net;

// usage Error that begins with the file: what is no recipe, a room, option or value that is not
// known, a number out of its range. Layers and heads are checked when it is applied.
[[nodiscard]] Recipe read_recipe_file(const std::string& path);
// The recipe of a file to a net; "" = none. usage Errors begin with the file.
void apply_recipe_file(Net& net, const std::string& path);
// Atomic. model: what it was made for, in a line; for people alone.
void write_recipe_file(const std::string& path, const Recipe& recipe, const std::string& model);

}  // namespace aft
