// Means of a sweep's points with one standard deviation, every seed, and the paper's value, a line
// each. Window thread, inside a frame.
#pragma once
#include <vector>

#include "app/state/sweep_table.h"
#include "app/state/ui.h"

namespace aft::app {

// The points in this order. Index of the one pressed in `table`, -1 = none.
int draw_sweep_plot(PaneContext& ui, const SweepTable& table, const std::vector<size_t>& order);

}  // namespace aft::app
