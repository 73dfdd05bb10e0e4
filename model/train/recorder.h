// Recorder: what a run leaves behind, step by step: log line, bias history, checkpoints. Used by
// the headless job and by the session's trainer, so that both leave the same folder. Trainer
// thread. Errors (disk full) leave every older file whole.
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>

#include "model/train/history.h"
#include "model/train/run_folder.h"
#include "model/train/trainer.h"

namespace aft {

class Recorder {
  public:
    // `folder` is open; the trainer stands at its first step or where its checkpoint was.
    Recorder(RunFolder& folder, const Trainer& trainer);
    void after_step(const StepReport& report);  // failure reports become an event
    // Writes what an error kept from being written after the last step. Call it before the next.
    void finish();
    // The checkpoint first, unless this step is saved already: saved_step() tells also after an
    // error of what is written beside it.
    std::filesystem::path save(SaveKind kind = SaveKind::scheduled);
    // When train.save_minutes asks for the next save; nullopt = never. after_step() does it; call
    // save(SaveKind::by_time) for it where no step comes.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_save() const;
    [[nodiscard]] int64_t saved_step() const { return saved_step_; }  // -1 = none by this process

  private:
    RunFolder& folder_;
    const Trainer& trainer_;
    History history_;
    std::optional<StepReport> waiting_;
    bool is_logged_ = false;  // its line is written
    int64_t saved_step_ = -1;
    std::filesystem::path saved_path_;
    std::chrono::steady_clock::time_point saved_at_;  // tried to; the start, before the first
};

}  // namespace aft
