// The plot of a sweep: a line for each point, with its mean, its spread, every seed and the paper's
// value. Window thread, inside a frame.
#pragma once
#include <span>

#include "app/state/sweep_table.h"
#include "app/state/ui.h"

namespace aft::app {

// What it costs to find of thousands of points: kept until the table or the scale changes.
struct SweepPlotSpan {
    bool has_values = false;
    double low = 0, high = 1;        // of everything that is drawn, with a margin
    float names = 0, at_scale = -1;  // width of the longest name, pixels, at that interface scale
};
[[nodiscard]] SweepPlotSpan sweep_plot_span(const SweepTable& table);

// In this order of the table's rows; only what is in view is drawn. Index of the row pressed, -1 =
// none.
int draw_sweep_plot(PaneContext& ui, const SweepTable& table, std::span<const size_t> order,
                    SweepPlotSpan& span);

}  // namespace aft::app
