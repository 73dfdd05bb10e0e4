#include "model/train/recorder.h"

#include "core/check.h"

namespace aft {

Recorder::Recorder(RunFolder& folder, const Trainer& trainer)
    : folder_(folder),
      trainer_(trainer),
      history_(folder.path() / "history", trainer.config().train.history_frames,
               trainer.config().train.steps) {
    history_.record(trainer.steps_done(), trainer.net().parameters());
}

void Recorder::after_step(const StepReport& report) {
    if (!report.failure.empty()) {
        folder_.event("error", report.step, {{"text", report.failure}});
        return;
    }
    waiting_ = report;
    is_logged_ = false;
    finish();
    const TrainConfig& train = trainer_.config().train;
    if (train.checkpoint_every > 0 && report.step % train.checkpoint_every == 0) save();
}

void Recorder::finish() {
    if (!waiting_) return;
    const int64_t every = std::max<int64_t>(trainer_.config().train.log_every, 1);
    const bool is_due = waiting_->values.contains("validation.loss") || waiting_->error ||
                        waiting_->step % every == 0;
    if (is_due && !is_logged_) folder_.log(*waiting_);
    is_logged_ = true;
    history_.record(waiting_->step, trainer_.net().parameters());
    waiting_.reset();
}

std::filesystem::path Recorder::save() {
    const int64_t step = trainer_.steps_done();
    std::error_code error;  // a rewind that failed half-way may have taken the file away
    if (saved_step_ != step || !std::filesystem::exists(saved_path_, error)) {
        saved_path_ = folder_.save(trainer_.checkpoint(/*with_optimizer=*/true));
        saved_step_ = step;
    }
    history_.record(step, trainer_.net().parameters(), /*always=*/true);
    finish();
    return saved_path_;
}

}  // namespace aft
