// Following: another process trains this run; its folder is read as it grows, and the run is ours
// when that process has ended.

#include <algorithm>
#include <cmath>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/run_paths.h"
#include "model/device.h"
#include "model/session/run.h"
#include "model/train/run_lock.h"
#include "model/train/run_state.h"

namespace aft::session {

namespace {

std::string gone_words(const std::string& path) {
    return path + " is gone: it was deleted or moved; what is shown was read before";
}

}  // namespace

void Run::follow() {
    check_files();
    // Before reading: what is written until then counts.
    const bool locked = is_run_locked(run_.path);
    const bool is_back = follow_rewind();
    const bool has_rows = follow_metrics() || is_back;
    const bool has_weights = follow_weights();
    // Until the first checkpoint comes, the stored biases.
    if (has_rows && !model_.opened && !view_.status.layers.empty()) show_without_weights(true);
    if (has_rows || has_weights) publish_stored_steps();
    if (!locked) take_over();
    if (has_rows || has_weights || !locked) publisher_.publish_curves(view_, /*at_once=*/true);
}

// The other process went back to an earlier step: its logs are other files, and steps come again.
bool Run::follow_rewind() {
    const uint64_t inode = log_inode(run_.path);
    if (inode == 0) return false;
    const bool is_other = view_.metrics_inode != 0 && inode != view_.metrics_inode;
    view_.metrics_inode = inode;
    if (is_other) read_again();
    return is_other;
}

// Logs that are other files than before, and the newest checkpoint.
void Run::read_again() {
    read_logs();
    Status& status = view_.status;
    status.step = view_.curves.step.empty() ? 0 : std::llround(view_.curves.step.back());
    status.saved_step = status.biases_step = -1;
    publisher_.drop_answers();
}

bool Run::follow_metrics() {
    if (!read_metrics()) return false;
    read_run_events(view_, run_.path);
    Status& status = view_.status;
    status.target_step = asked_steps(read_events(run_.path), config());
    status.step = std::llround(view_.curves.step.back());
    const auto times = view_.curves.columns.find("timing.step_ms");
    if (times != view_.curves.columns.end() && std::isfinite(times->second.back())) {
        status.step_ms = times->second.back();
        status.steps_per_s = status.step_ms > 0 ? 1000 / status.step_ms : 0;
    }
    const auto newest = [&](const char* key) {
        const auto column = view_.curves.columns.find(key);
        const bool is_there = column != view_.curves.columns.end() && !column->second.empty();
        return is_there && std::isfinite(column->second.back()) ? column->second.back() : 0.0;
    };
    status.examples_per_s = newest("timing.examples_per_s");
    status.memory_bytes = std::llround(newest("timing.memory_bytes"));
    const auto left = static_cast<double>(std::max<int64_t>(status.target_step - status.step, 0));
    status.eta_s = status.steps_per_s > 0 ? left / status.steps_per_s : 0;
    return true;
}

bool Run::follow_weights() {
    const std::vector<int64_t> steps = checkpoint_steps(run_.path);
    if (steps.empty() || steps.back() <= view_.status.saved_step) return false;
    const std::string path = checkpoint_path(run_.path, steps.back()).string();
    if (files_.is_unreadable(path)) return false;
    auto checkpoint = std::make_shared<Checkpoint>();
    files_.watch(path);
    files_.note_unreadable(path);
    if (const auto error = caught([&] { *checkpoint = read_checkpoint(path); })) {
        if (fs::exists(path)) std::rethrow_exception(error);
        return false;  // thinned out by its owner between listing and reading
    }
    files_.note_readable(path);
    const int64_t step = std::max(view_.status.step, checkpoint->step);
    if (!model_.opened) view_.status.message.clear();  // it waited for this one
    if (!model_.data_source.empty()) checkpoint->config.data.source = model_.data_source;
    describe_model(view_, checkpoint->config, *checkpoint);
    if (step > checkpoint->step) show_last_row(view_);
    view_.status.step = step;
    // Another program need not say for how long it trains.
    view_.status.target_step = asked_steps(read_events(run_.path), config());
    view_.status.saved_step = checkpoint->step;
    view_.status.biases_step = -1;
    model_.opened = checkpoint;
    publisher_.publish_checkpoint(checkpoint);
    return true;
}

// The run rests here and was never trained here.
bool Run::only_rests() const {
    return run_.is_old && !run_.folder && !model_.trainer && model_.opened &&
           !view_.status.following && next_state(view_.status.state, RunEvent::followed);
}

// Whether its folder has gone or is back, and what another process has trained meanwhile.
bool Run::look_at_rest() {
    run_.looked_at = Clock::now();
    std::error_code ignored;
    Status& status = view_.status;
    const bool was_gone = run_.was_gone;
    // Back with its checkpoints: a folder may come piece by piece.
    run_.was_gone =
        !fs::exists(run_.path, ignored) || (was_gone && checkpoint_steps(run_.path).empty());
    if (run_.was_gone) {
        status.can_train = false;
        status.message = gone_words(run_.path);
        return !was_gone;
    }
    if (was_gone) {
        read_rows_again();
        show_opened(status.target_step);
        publish_stored_steps();
        status.can_train = status.task.is_trainable();
        const std::string lost = steps_without_weights();
        status.message = run_.path + " is there again" + (lost.empty() ? "" : "; " + lost);
        files_.watch(model_.opened->path);
    }
    if (follow_again()) return true;
    const std::vector<int64_t> steps = checkpoint_steps(run_.path);
    if (steps.empty() || steps.back() <= status.saved_step) return was_gone;
    // Another process has trained between two looks. Read once before anything is changed.
    const std::string newest = checkpoint_path(run_.path, steps.back()).string();
    if (files_.is_unreadable(newest)) return was_gone;
    files_.note_unreadable(newest);
    const std::string problem = error_words([&] { (void)read_checkpoint(newest); }, plain_words);
    if (!problem.empty()) {
        status.message = problem;
        return true;
    }
    files_.note_readable(newest);
    (void)follow_rewind();
    (void)follow_metrics();
    if (!follow_weights()) return was_gone;
    status.examples_per_s = status.steps_per_s = status.eta_s = 0;
    status.step = model_.opened->step;
    status.target_step = std::max(status.target_step, status.step);
    status.message = fmt::format("another process has trained this run to step {}", status.step);
    publish_stored_steps();
    publisher_.publish_curves(view_, /*at_once=*/true);
    return true;
}

// Another process trains it again.
bool Run::follow_again() {
    Status& status = view_.status;
    if (!is_run_locked(run_.path)) return false;
    apply(RunEvent::followed);
    status.following = true;
    read_again();  // what was not saved has been dropped
    status.can_train = false;
    status.message = "another process trains this run again";
    return true;
}

// The checkpoint in hand, whatever was logged after it.
void Run::show_opened(int64_t target) {
    describe_model(view_, model_.opened->config, *model_.opened);
    view_.status.target_step = std::max(view_.status.target_step, target);
}

// As a run that was opened when nobody trains it.
void Run::take_over() {
    Status& status = view_.status;
    status.following = false;
    status.can_train = model_.opened != nullptr && status.task.is_trainable();
    const int64_t target = asked_steps(read_events(run_.path), config());
    const bool is_done = target > 0 && model_.opened && model_.opened->step >= target;
    status.message = fmt::format("the process that trained this run has {} step {}{}",
                                 is_done ? "finished at" : "ended at", status.step,
                                 is_done || target == 0 ? "" : fmt::format(" of {}", target));
    // Those were the other process's.
    status.memory_bytes = 0;
    status.examples_per_s = status.steps_per_s = status.eta_s = 0;
    const bool is_gone = run_.was_gone = !fs::exists(run_.path);
    if (is_gone) {
        status.can_train = false;
        status.message = gone_words(run_.path);
    }
    if (!model_.opened) {
        apply(RunEvent::failed);
        status.error = fmt::format("{}: the run ended before its first checkpoint", run_.path);
        return;
    }
    apply(RunEvent::owner_ended);
    show_opened(target);
    if (const std::string lost = steps_without_weights(); !is_gone && !lost.empty())
        status.message += "; " + lost;
}

}  // namespace aft::session
