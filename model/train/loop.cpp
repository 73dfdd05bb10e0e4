#include "model/train/loop.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/clock.h"
#include "model/checkpoints/run_paths.h"
#include "model/metrics.h"

namespace aft {

using Clock = std::chrono::steady_clock;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr const char* kValidation = "validation.loss";

// The logged validation loss of the newest checkpoint that was kept as the best.
double best_saved_loss(const std::filesystem::path& run) {
    int64_t best = -1;
    for (const int64_t step : checkpoint_steps(run))
        if (is_best(save_kind(run, step))) best = step;
    if (best < 0) return kNone;
    uint64_t offset = 0;
    Curves curves;
    while (read_rows(run, offset, curves)) {
    }
    const auto column = curves.columns.find(kValidation);
    if (column == curves.columns.end()) return kNone;
    for (size_t row = 0; row < curves.step.size(); ++row)
        if (std::llround(curves.step[row]) == best && std::isfinite(column->second[row]))
            return column->second[row];
    return kNone;
}

}  // namespace

TrainingLoop::TrainingLoop(Trainer& trainer, RunFolder& folder)
    : trainer_(trainer),
      folder_(folder),
      history_(history_folder(folder.path()), trainer.config().train.history_frames,
               trainer.config().train.steps),
      first_step_(trainer.steps_done()),
      saved_{.at = Clock::now()},
      best_loss_(trainer.config().train.keep_best ? best_saved_loss(folder.path()) : kNone) {
    history_.record(first_step_, trainer.net().parameters());
}

StepReport TrainingLoop::step() {
    finish_record();
    const auto start = Clock::now();
    StepReport report = trainer_.step();
    record(report);
    stop_rule_.add(report, ms_since(start) / 1000, trainer_.config());
    return report;
}

void TrainingLoop::record(const StepReport& report) {
    if (!report.failure.empty()) {
        // At the step that did not come.
        folder_.event("error", report.step + 1, {{"text", report.failure}});
        return;
    }
    waiting_ = report;
    is_logged_ = false;
    finish_record();
    const TrainConfig& train = trainer_.config().train;
    const auto next = next_save();
    const bool best = is_lowest(report);
    if (train.checkpoint_every > 0 && report.step % train.checkpoint_every == 0)
        save(best ? SaveKind::best_scheduled : SaveKind::scheduled);
    else if (best)
        save(SaveKind::best);
    else if (next && Clock::now() >= *next)
        save(SaveKind::by_time);
    if (best) best_loss_ = report.values.at(kValidation);
}

bool TrainingLoop::is_lowest(const StepReport& report) const {
    if (!trainer_.config().train.keep_best) return false;
    const auto loss = report.values.find(kValidation);
    return loss != report.values.end() && loss->second < best_loss_;
}

void TrainingLoop::finish_record() {
    if (!waiting_) return;
    const int64_t every = std::max<int64_t>(trainer_.config().train.log_every, 1);
    const bool is_due = waiting_->values.contains("validation.loss") || waiting_->error ||
                        waiting_->step % every == 0;
    if (is_due && !is_logged_) folder_.log(*waiting_);
    is_logged_ = true;
    unlogged_.reset();
    if (!is_due) unlogged_ = waiting_;
    history_.record(waiting_->step, trainer_.net().parameters());
    waiting_.reset();
}

void TrainingLoop::log_last() {
    finish_record();
    if (unlogged_) folder_.log(*unlogged_);
    unlogged_.reset();
}

std::filesystem::path TrainingLoop::save(SaveKind kind) {
    saved_.at = Clock::now();
    const int64_t step = trainer_.steps_done();
    std::error_code error;  // a rewind that failed half-way may have taken the file away
    if (saved_.step != step || !std::filesystem::exists(saved_.path, error)) {
        saved_.path = folder_.save(trainer_.checkpoint(/*with_optimizer=*/true), kind);
        saved_.step = step;
    } else {
        folder_.keep_save(step, kind);
    }
    // No history frame for saves by time or loss: kept frames are a function of the step numbers
    // alone.
    if (kind != SaveKind::by_time && kind != SaveKind::best)
        history_.record(step, trainer_.net().parameters(), /*always=*/true);
    finish_record();
    saved_.at = Clock::now();
    return saved_.path;
}

bool TrainingLoop::has_unsaved_steps() const {
    return trainer_.steps_done() > std::max(first_step_, saved_.step);
}

std::optional<Clock::time_point> TrainingLoop::next_save() const {
    const double minutes = trainer_.config().train.save_minutes;
    if (minutes <= 0 || !has_unsaved_steps()) return std::nullopt;
    return saved_.at + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double, std::ratio<60>>(minutes));
}

}  // namespace aft
