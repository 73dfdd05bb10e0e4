// RunView: what readers of a run are to see, as the trainer thread knows it: its status, its
// curves, and how far its logs have been read. Filled here, handed over by the publisher. Trainer
// thread.
#pragma once
#include <chrono>
#include <string>

#include "model/checkpoints/checkpoint.h"
#include "model/metrics.h"
#include "model/status.h"
#include "model/train/trainer.h"

namespace aft::session {

struct RunView {
    Status status;
    Curves curves;
    uint64_t metrics_offset = 0;   // bytes of metrics.jsonl that are in the curves
    uint64_t metrics_inode = 0;    // of that file; a rewind writes another in its place
    bool reads_log_again = false;  // after an error: log and curves may differ by some rows
    std::chrono::steady_clock::time_point last_step_time{};
    double step_gap_s = 0;  // smoothed, pauses between steps included
};

// Describes a model from a checkpoint: its weights, step, metrics and data.
void describe_model(RunView& view, const Config& config, const Checkpoint& checkpoint);
// The status after a step, and a row of the curves where it was logged.
void add_report(RunView& view, const StepReport& report);
// Takes the values of a row into the status: loss, metric, norms of the layers.
void show_last_row(RunView& view);
void add_event(RunView& view, const std::string& kind, const std::string& text);
// All events of the run folder in place of those so far. Blocks on the file.
void read_run_events(RunView& view, const std::string& run);
// Of the run's metrics.jsonl; 0 where there is none.
[[nodiscard]] uint64_t log_inode(const std::string& run);

}  // namespace aft::session
