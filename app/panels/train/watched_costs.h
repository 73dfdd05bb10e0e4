// What a recipe costs over the steps, as curves: the change of the loss with its standard error,
// and the two losses; and why steps cannot carry it. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/panels/train/recipe_series.h"

namespace aft::app {

// "zero layer=0 · 64 examples of test from 0 on"
[[nodiscard]] std::string recipe_words(const ViewState& ui, const WatchedRecipe& one);
// index: of the experiment, in the ids of what is drawn. A click shows the step everywhere.
void draw_recipe_costs(PaneContext& ui, const RecipeSeries& series, size_t index);

}  // namespace aft::app
