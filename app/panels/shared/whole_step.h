// The step whose whole weights stand for the one that is shown: what completes, attends or has a
// loss needs them, and of most steps the biases alone are stored. Pure functions; window thread.
#pragma once
#include <cstdint>

#include "app/state/ui.h"

namespace aft::app {

// The shown step where its weights are in memory or it is saved, else the nearest saved one.
[[nodiscard]] int64_t whole_step(const ViewState& ui);
// The same of those on the disk, also for the newest weights; -1 = none is saved.
[[nodiscard]] int64_t whole_saved_step(const ViewState& ui);

}  // namespace aft::app
