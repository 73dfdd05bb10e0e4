// What a sweep keeps on disk beside its runs: sweep.json, the plan it belongs to, and
// RUN/sweep.json of every run that has ended. Blocks on files; every error names the path. For the
// sweep job.
#pragma once
#include <filesystem>

#include "model/jobs/sweep/sweep.h"

namespace aft {

// The folder of a new sweep, or the one to resume. usage Error: it is there already and `resume`
// was not asked for, or holds another sweep.
void open_sweep_folder(const std::filesystem::path& out, const SweepPlan& plan, bool resume);

// Of a run whose folder and seed are known: true if it is done, with what was measured then. What a
// failed one says does not count: it is tried again. Seconds that earlier starts took remain.
bool load_run(SweepRun& run);
void store_run(const SweepRun& run);

}  // namespace aft
