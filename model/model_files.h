// Names of model files, for those that show or copy them: what is a checkpoint, and which file
// holds a step. Of names alone, is_run_folder apart; no LibTorch; any thread.
#pragma once
#include <cstdint>
#include <string>

#include "model/checkpoints/run_paths.h"  // is_run_folder, branches_folder, run_of_branch

namespace aft {

// A checkpoint, not a run folder: by its name alone.
[[nodiscard]] bool is_checkpoint_file(const std::string& path);
// The file of a step: a checkpoint is its own, a run folder has one for each saved step.
[[nodiscard]] std::string checkpoint_file(const std::string& model, int64_t step);

}  // namespace aft
