#include "model/interventions/recipe_file.h"

#include <nlohmann/json.hpp>

#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/interventions/intervention.h"

namespace aft {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;
}  // namespace

Recipe recipe_from_json(const nlohmann::json& of) {
    Recipe recipe = recipe_of_json(of);
    for (size_t i = 0; i < recipe.interventions.size(); ++i)
        with_context(fmt::format("intervention {}", i + 1),
                     [&] { check_intervention(recipe.interventions[i]); });
    return recipe;
}

Recipe read_recipe_file(const std::string& path) {
    const nlohmann::json json = read_json_file(path, kMostBytes, ErrorKind::usage);
    return with_context(shown_path(path), [&] { return recipe_from_json(json); });
}

void apply_recipe_file(Net& net, const std::string& path) {
    if (path.empty()) return;
    const Recipe recipe = read_recipe_file(path);
    with_context(shown_path(path), [&] { apply_recipe(net, recipe); });
}

nlohmann::ordered_json recipe_to_json(const Recipe& recipe, const std::string& model) {
    return json_of_recipe(recipe, model);
}

void write_recipe_file(const std::string& path, const Recipe& recipe, const std::string& model) {
    write_atomically(path, json_text(recipe_to_json(recipe, model), 2) + "\n");
}

}  // namespace aft
