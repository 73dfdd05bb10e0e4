// What `afterimage inspect` prints for people: a summary, the biases and all tensors as tables, the
// settings. Pure.
#pragma once
#include <string>

#include "model/jobs/inspect.h"

namespace aft::app {

[[nodiscard]] std::string inspect_words(const InspectResult& result);

}  // namespace aft::app
