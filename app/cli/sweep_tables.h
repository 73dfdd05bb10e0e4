// The tables and the plot of a sweep, and their words: written after every run, so that they hold
// what there is. Main thread; blocks on files.
#pragma once
#include <string>

#include "model/jobs/sweep/sweep.h"

namespace aft::app {

// runs.csv, summary.csv, table.json and plot.svg in the sweep's folder, each atomically.
void write_sweep_tables(const SweepResult& result);
// The summary as lines with columns, then runs that failed and what is open.
[[nodiscard]] std::string sweep_words(const SweepResult& result);

}  // namespace aft::app
