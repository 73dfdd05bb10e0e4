// What a model costs, as words, CSV and a plot against the length. Main thread; blocks on the
// file that it writes.
#pragma once
#include <string>

#include "model/jobs/cost.h"

namespace aft::app {

[[nodiscard]] std::string cost_words(const CostResult& result);

// .csv: a line for each mixer and length. .svg, .png: a log-log plot of FLOPs, memory, estimated
// time and decoding, a line for each mixer. usage Error: another ending; where it is not writable,
// the error of the final write.
void check_cost_file(const std::string& path);
void write_cost_file(const std::string& path, const CostResult& result);

}  // namespace aft::app
