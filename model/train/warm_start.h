// A new run from weights that are there already: ours, or somebody else's that an importer knows.
// Any thread; blocks on the file; memory of the weights twice.
#pragma once
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"

namespace aft {

struct WarmStart {
    Checkpoint checkpoint;            // of the new run, at step 0, without an optimiser's state
    std::vector<std::string> taken;   // names of parameters
    std::vector<std::string> fresh;   // "NAME (why)"
    std::vector<std::string> unused;  // of the weights: no place in the new model
    // Of `taken`, "NAME (from what to what)": tables over the positions of a picture of another
    // size, and of a text of another length.
    std::vector<std::string> resized, cut;
};

// fitted: a config that fits its data. By name and shape; tables over the positions of a text are
// taken as far as they reach, those of a picture are interpolated (position_grid.h). Queries and
// keys of attention are not those of AFT: between the two they start anew (the paper's Table 8).
// usage Error where nothing fits.
[[nodiscard]] WarmStart warm_start(const Config& fitted, const std::string& from);

}  // namespace aft
