// TrainingLoop: the steps of a run, one after the other, and what each leaves in the run folder:
// log line, bias history, checkpoints. The one loop of the train job and of the session, so that
// both leave the same folder. Trainer thread; knows no window and no command. Errors (disk full)
// leave every older file whole.
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>

#include "model/train/history.h"
#include "model/train/run_folder.h"
#include "model/train/stop_rule.h"
#include "model/train/trainer.h"

namespace aft {

class TrainingLoop {
  public:
    // `folder` is open; the trainer is at its first step or at that of its checkpoint. Both
    // outlive the loop.
    TrainingLoop(Trainer& trainer, RunFolder& folder);

    // One optimiser step, its log line and history frame, and the save that is due. What an error
    // kept from being written after the step before is written first. A report with `failure` was
    // not applied and is an event of the folder; `error` (of validation) is the caller's to
    // rethrow.
    [[nodiscard]] StepReport step();
    // Why training is to end after the last step, before its target (train.until_loss, ...); "" =
    // it is not.
    [[nodiscard]] const std::string& stop_reason() const { return stop_rule_.reason(); }
    // The line of the last step where train.log_every left it out: once training has reached its
    // end.
    void log_last();
    // The checkpoint first, unless this step is saved already: saved_step() tells also after an
    // error of what is written beside it.
    std::filesystem::path save(SaveKind kind = SaveKind::scheduled);
    // When train.save_minutes asks for the next save of unsaved steps; nullopt = never. step() does
    // it; call save(SaveKind::by_time) for it where no step comes.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_save() const;
    [[nodiscard]] int64_t saved_step() const { return saved_.step; }  // -1 = none by this loop
    [[nodiscard]] bool has_unsaved_steps() const;  // steps of this loop that no checkpoint holds

  private:
    struct LastSave {
        int64_t step = -1;
        std::filesystem::path path{};
        std::chrono::steady_clock::time_point at{};  // tried to; the start, before the first
    };

    void record(const StepReport& report);
    void finish_record();
    [[nodiscard]] bool is_lowest(const StepReport& report) const;

    Trainer& trainer_;
    RunFolder& folder_;
    History history_;
    int64_t first_step_;
    std::optional<StepReport> waiting_;   // done, but not written whole
    bool is_logged_ = false;              // its line is written
    std::optional<StepReport> unlogged_;  // the last step, if train.log_every left it out
    LastSave saved_;
    double best_loss_;  // of the validation whose checkpoint is kept as the best; infinity = none
    StopRule stop_rule_;
};

}  // namespace aft
