// How a run stands, as its logs tell: which step it was to reach, and whether it ended in an error.
// Pure but for keep_target. Any thread.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/train/run_folder.h"

namespace aft {

// The step that the run was last asked to reach, never less than train.steps.
[[nodiscard]] int64_t asked_steps(const std::vector<nlohmann::json>& events, const Config& config);

// The last error was followed by no rewind and by no step: the run stands where it broke.
[[nodiscard]] bool is_in_error(const std::vector<nlohmann::json>& events, int64_t last_logged);

// "steps 41 to 60 were not saved and are lost": of a process that was killed.
[[nodiscard]] std::string unsaved_steps_text(int64_t saved, int64_t last);

// Notes in the events of a new run that it starts with the weights of a checkpoint file, so that
// both are shown as twins. Returns the event's text. branched_from: that file; "" = of none.
std::string note_branch(RunFolder& folder, int64_t step, const std::string& file);
[[nodiscard]] std::string branched_from(const std::vector<nlohmann::json>& events);

// Notes a target beyond train.steps in the events, so that a run stopped before it is not taken for
// a finished one. True: the events have changed.
bool keep_target(RunFolder& folder, const Config& config, int64_t step, int64_t target);

}  // namespace aft
