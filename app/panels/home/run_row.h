// A row of Home: one run or model of the catalogue, with its picture, state, losses and metric.
// Window thread, inside a frame.
#pragma once
#include "app/panels/shared/thumbnail.h"
#include "app/state/ui.h"
#include "model/jobs.h"

namespace aft::app {

[[nodiscard]] float run_row_height(const DrawContext& ui);  // pixels, with what follows it
// `width` in pixels. True if it was pressed.
bool draw_run_row(PaneContext& ui, const RunSummary& run, Thumbnail& thumbnail, float width);

}  // namespace aft::app
