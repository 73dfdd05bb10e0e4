// Which events of a run still say something where they are marked: a setting that was changed and
// given its value back at the same step was not changed. Pure; any thread.
#pragma once
#include <vector>

#include "model/metrics.h"

namespace aft::app {

// In the order of `events`. Left out: changes of a setting together with what took them back, where
// no step lies between; and targets that were set before the first step. Where steps lie between,
// both are of kind "undone", and the text of the change says at which step it was.
[[nodiscard]] std::vector<Event> standing_events(std::vector<Event> events);

}  // namespace aft::app
