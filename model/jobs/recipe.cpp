#include "model/jobs/recipe.h"

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

void write_recipe(const std::string& path, const Recipe& recipe, const std::string& model) {
    write_recipe_file(path, recipe, model);
}

}  // namespace aft
