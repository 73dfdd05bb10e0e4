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
    const TrainConfig& train = trainer_.config().train;
    const bool validated = report.values.contains("validation.loss");
    if (validated || report.step % std::max<int64_t>(train.log_every, 1) == 0) folder_.log(report);
    history_.record(report.step, trainer_.net().parameters());
    if (train.checkpoint_every > 0 && report.step % train.checkpoint_every == 0) save();
}

std::filesystem::path Recorder::save() {
    const int64_t step = trainer_.steps_done();
    if (saved_step_ == step) return saved_path_;
    history_.record(step, trainer_.net().parameters(), /*always=*/true);
    saved_path_ = folder_.save(trainer_.checkpoint(/*with_optimizer=*/true));
    saved_step_ = step;
    return saved_path_;
}

}  // namespace aft
