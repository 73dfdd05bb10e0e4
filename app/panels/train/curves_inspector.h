// What the Inspector says of the curves: the run, its loss, the command that writes them. Window
// thread, inside a frame.
#pragma once
#include "app/panels/train/plot_series.h"
#include "app/state/ui.h"

namespace aft::app {

void curves_inspector(Ui& ui, const PlotSeries& columns);

}  // namespace aft::app
