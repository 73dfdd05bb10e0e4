// eval --recipe: what a model has does not change by what is tried out on it.
#include <gtest/gtest.h>

#include <fstream>

#include "model/jobs.h"
#include "tests/core/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

TEST(EvalRecipe, CountsTheParametersOfTheModelAsItIs) {
    initialize_model("cpu", 1);
    const Scratch scratch;
    EvalRequest request;
    request.model = source_file("assets/demo/mirror.safetensors").string();
    request.limit = 1;
    const int64_t untouched = eval_job(request, {}).cost.parameters;
    request.recipe = (scratch / "recipe.json").string();
    std::ofstream(request.recipe)
        << R"({"afterimage_recipe": 1, "interventions": [{"name": "zero", "layer": 0}]})";
    EXPECT_EQ(eval_job(request, {}).cost.parameters, untouched);
}

}  // namespace
}  // namespace aft
