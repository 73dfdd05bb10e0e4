// What `afterimage compare` prints for people: what is set against what, then tables of the layers,
// the heads, the largest changes and the settings that differ. Pure.
#pragma once
#include <string>

#include "model/jobs/compare.h"

namespace aft::app {

[[nodiscard]] std::string compare_words(const CompareJob& job, const CompareResult& result);

}  // namespace aft::app
