// The trainer's side of a session: what it owns, and the steps of its life, one file each. Trainer
// thread only. session_trainer.cpp is the loop, session_open.cpp opens, session_follow.cpp reads a
// run that another process trains, session_files.cpp notices files that were replaced,
// session_publish.cpp hands pictures of the state to the window.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>

#include "model/session/channels.h"
#include "model/train/recorder.h"
#include "model/train/run_folder.h"
#include "model/train/trainer.h"

namespace aft::session {

// Publishes at a cost of at most 2 % of the time: everything measures itself.
struct Pace {
    double took_ms = 0;  // the last publication
    double cost_ms = 0;  // what it counts as in the pacing
    Clock::time_point last{};
    int64_t step = -1;  // last published step
};

struct FileStamp {
    uint64_t device = 0, inode = 0;
    int64_t size = 0, changed_ns = 0;
    [[nodiscard]] bool operator==(const FileStamp&) const = default;
};

// Of the files that answers are read from, as they were when they were last looked at.
struct Files {
    std::map<std::string, FileStamp> known;  // by path
    Clock::time_point looked{};
};

struct Live {
    OpenRequest request;
    at::Device device = at::kCPU;
    Config config;
    // Exactly one of: a trainer (new or started), or what a file held until training starts.
    std::unique_ptr<Trainer> trainer;
    std::shared_ptr<const Checkpoint> opened;
    std::unique_ptr<RunFolder> folder;  // locked by us; made when training starts
    std::unique_ptr<Recorder> recorder;
    std::string data_source;  // chosen here in place of what the file says; empty = as it says
    std::string lost;         // words for the steps that the last resume has dropped
    std::string run;          // run folder to read from or write to; may not exist yet
    bool resume = false;
    bool dirty = false;  // steps done that no checkpoint holds
    // A setting that can make training diverge was changed before the folder was ours.
    bool has_risky_change = false;
    Files files;
    // Commands.
    int64_t pause_at = -1;
    bool closing = false;  // stop was asked for
    // Pictures of the state.
    Status status;
    Curves curves;
    Pace snapshot_pace, curves_pace, status_pace;
    uint64_t stamp = 0, valid_since = 0;
    uint64_t metrics_offset = 0;
    Clock::time_point last_step_time{};
    double step_gap_s = 0;  // smoothed, pauses between steps included
};

// session_open.cpp
void open_live(Live& live, Shared& shared);
void make_trainer(Live& live);
// Trainer and run folder, made at the first start. Throws what is in the way.
void prepare_training(Live& live, Shared& shared);
// Words for logged steps beyond the opened weights; "" where there are none.
[[nodiscard]] std::string steps_without_weights(const Live& live);
// True if another process (or session) holds the lock of this run folder.
[[nodiscard]] bool is_locked(const std::string& run);

// session_trainer.cpp
void save_now(Live& live, Shared& shared, SaveKind kind = SaveKind::scheduled);

// session_rewind.cpp: throws, with everything as it was, where the step is not there.
void rewind(Live& live, Shared& shared, int64_t step);

// session_files.cpp: known from now on; what this process itself replaces it forgets first.
void watch_file(Live& live, const std::string& path);
// Every two seconds at most. True if something was replaced: then what was read from it is dropped.
bool look_at_files(Live& live, Shared& shared);
[[nodiscard]] Clock::time_point next_look(const Live& live);

// session_follow.cpp: reads what has grown; true if something new is there.
bool follow_once(Live& live, Shared& shared);

// session_publish.cpp
void describe_model(Live& live, const Checkpoint& checkpoint);  // status from a config
void add_report(Live& live, const StepReport& report);          // status and a row of the curves
// What metrics.jsonl has grown by, published as it is read; true if there is something.
bool read_metrics_rows(Live& live, Shared& shared);
void add_events(Live& live);  // from the run folder's events.jsonl
void add_event(Live& live, const std::string& kind, const std::string& text);
void read_logs(Live& live, Shared& shared);  // curves and events from the run folder, anew
void note_target(Live& live);                // the target step into the events of the run folder
void publish_status(Live& live, Shared& shared);
void publish_curves(Live& live, Shared& shared, bool at_once);
void publish_moments(Live& live, Shared& shared);
// due: only where the pace allows it; else at once, unless this step is published already.
void publish_weights(Live& live, Shared& shared, bool due);
void publish_checkpoint(Live& live, Shared& shared, std::shared_ptr<const Checkpoint> checkpoint);

}  // namespace aft::session
