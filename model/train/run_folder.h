// Run folder: config.json, metrics.jsonl, events.jsonl, checkpoints/, history/,
// log.txt, run.lock. One writer (flock), any number of readers while it grows; nothing is written
// through a symbolic link. Trainer thread writes; readers on any thread.
#pragma once
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/train/saves.h"
#include "model/train/trainer.h"

namespace aft {

class RunFolder {
  public:
    // A new run: makes the folder. Error if another process holds the lock (names it and the
    // remedy), or if a run has been started there already.
    RunFolder(const std::filesystem::path& path, const Config& config);
    // A run to resume: locked, nothing written; resume_from() before anything else. Error as
    // above, or if there is no run.
    explicit RunFolder(const std::filesystem::path& path);
    // From a checkpoint of this step: drops log lines and history frames after it, and a torn last
    // line and temporary files of an interrupted process; config.json becomes `config`. Error if
    // the run was trained further than that, or rewound: nothing is lost. Returns what a kill lost,
    // in words: "steps 41 to 60 were not saved and are lost"; empty = nothing.
    std::string resume_from(int64_t step, const Config& config);
    ~RunFolder();
    void log(const StepReport& report);  // one line, flushed
    void event(const std::string& kind, int64_t step, const nlohmann::json& detail);
    // checkpoints/step-NNNNNNNN.safetensors; removes those that no SaveKind keeps.
    std::filesystem::path save(const Checkpoint& checkpoint, SaveKind kind = SaveKind::scheduled);
    // One that is saved stays as long as this kind, if it would not stay longer.
    void keep_save(int64_t step, SaveKind kind);
    // Back to a saved step: what came after is kept by keep_branch() and then leaves this run.
    // Returns the branch's folder; empty = nothing came after. Where the disk is full nothing
    // changes.
    std::filesystem::path go_back(int64_t step);
    void update_config(const Config& config);  // rewrites config.json where it differs
    [[nodiscard]] const std::filesystem::path& path() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// runs/NAME-N below the current folder, the first N that is free.
[[nodiscard]] std::filesystem::path new_run_path(const std::string& name);
// Whole lines, each with a "step" and a "kind"; a torn last one is left out.
[[nodiscard]] std::vector<nlohmann::json> read_events(const std::filesystem::path& run);

}  // namespace aft
