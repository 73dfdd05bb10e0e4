// Jobs: runs and checkpoints as lists show them. Plain types. No LibTorch. Block on the disk; any
// thread.
#pragma once
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/field.h"
#include "model/traits.h"

namespace aft {

// Whether a checkpoint or run folder can be opened, as far as its config and the header of its
// (newest) checkpoint tell; no tensor is read: milliseconds. Error as opening it would give.
void check_model(const std::string& path);

// What the list of recent runs shows of a run folder or checkpoint. Never throws: `error` has the
// words. what: "mirror, aft-full, 2 layers"; state: running, finished, failed, paused, model.
struct RunSummary {
    std::string path, name, what, state;
    std::string metric_words, error;
    int64_t step = 0, target_step = 0;
    int64_t changed = 0;        // seconds since 1970 of the last write
    double metric = 0;          // NaN = none
    std::vector<float> losses;  // at most 96, oldest first
    MixerTraits mixer;          // as published in Status
    TaskTraits task;
    Field thumbnail;  // exp(w)-1 of the middle layer, at most 48 x 48 blocks; empty = none
};
// stop: leaves a long log unread; `error` says so.
[[nodiscard]] RunSummary summarize_run(const std::string& path, const std::stop_token& stop = {});
// Name on screen, of the path alone: "mirror-1", "mirror-1, step 50", "mirror-1, until step 400".
[[nodiscard]] std::string shown_name(const std::string& path);
// The run folder that a saved step "RUN/checkpoints/step-N.safetensors" belongs to; "" for others.
[[nodiscard]] std::string run_of_step(const std::string& path);
// The run that saved a step, of that step's file or of a run that was begun from it; "" = none.
[[nodiscard]] std::string run_begun_from(const std::string& path);
// Run folders in runs/ of the folder one is in, where new runs go: the newest first, at most so
// many; absolute. Where `stop` asks to stop, those found until then.
[[nodiscard]] std::vector<std::string> runs_here(size_t most, const std::stop_token& stop = {});

}  // namespace aft
