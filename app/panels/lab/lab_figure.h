// The key figure of the Lab: what the recipe does to the loss of the pinned batch, with the
// interval that holds the mean change with 95 %, and each intervention by itself beside it. Window
// thread, inside a frame.
#pragma once
#include "app/panels/shared/batch_losses.h"

namespace aft::app {

// Height in pixels of the rows of that many interventions.
[[nodiscard]] float figure_height(const DrawContext& ui, size_t interventions);
void draw_lab_figure(PaneContext& ui, const BatchLosses& losses, const Recipe& active);

}  // namespace aft::app
