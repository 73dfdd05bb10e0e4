// Losses in the task's unit, and interventions as a line of text. Pure functions; window thread.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// Loss of the task's unit from nats.
[[nodiscard]] double shown_loss(const ViewState& ui, double nats);
[[nodiscard]] std::string loss_unit(const ViewState& ui);

}  // namespace aft::app
