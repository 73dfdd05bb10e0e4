#include "model/jobs/recipe.h"

#include <nlohmann/json.hpp>

#include "model/interventions/intervention.h"
#include "model/interventions/recipe_file.h"

namespace aft {

std::vector<InterventionInfo> intervention_list() {
    std::vector<InterventionInfo> list;
    for (const InterventionRoom& room : interventions()) list.push_back(room);
    return list;
}

Recipe read_recipe(const std::string& path) {
    return read_recipe_file(path);
}

Recipe parse_recipe(const nlohmann::json& json) {
    return recipe_from_json(json);
}

nlohmann::ordered_json recipe_json(const Recipe& recipe) {
    return recipe_to_json(recipe, "");
}

void write_recipe(const std::string& path, const Recipe& recipe, const std::string& model) {
    write_recipe_file(path, recipe, model);
}

}  // namespace aft
