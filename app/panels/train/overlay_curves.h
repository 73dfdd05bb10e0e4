// The curves of overlaid runs in the plots of Train: thinner than those of the open run, in the
// colour of their run in all plots, with its name. Window thread, inside a frame.
#pragma once
#include <span>
#include <string>

#include "app/panels/train/overlay_runs.h"
#include "app/panels/train/plot_card.h"

namespace aft::app {

// Behind those of the open run. The loss: training and, as dots, validation.
void overlay_loss(const ModelView& ui, std::span<const OverlayRun> runs, double smoothing,
                  NamedPlot& plot);
// A column as it was logged ("grad_norm"); `words` stand behind the run's name in the card.
void overlay_column(std::span<const OverlayRun> runs, const std::string& column,
                    const std::string& words, NamedPlot& plot);
void overlay_speed(std::span<const OverlayRun> runs, NamedPlot& plot);

}  // namespace aft::app
