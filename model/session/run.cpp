#include "model/session/run.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/warnings.h"
#include "model/device.h"

namespace aft::session {

constexpr auto kFolderLooks = std::chrono::milliseconds(500);

Run::Run(SessionChannels& channels, OpenRequest request)
    : channels_(channels), request_(std::move(request)), publisher_(channels) {
    view_.status.state = RunState::opening;
    view_.status.path = request_.path;
}

void Run::apply(RunEvent event) {
    const auto next = next_state(view_.status.state, event);
    AFT_ASSERT(next.has_value());
    if (next) view_.status.state = *next;
}

bool Run::has_unsaved_steps() const {
    return run_.loop && run_.loop->has_unsaved_steps();
}

void Run::publish_weights() {
    if (!model_.trainer) return;
    publisher_.publish_weights(*model_.trainer);
    view_.status.publish_ms = publisher_.weights_ms();
}

void Run::publish(bool at_once) {
    if (view_.status.error.empty()) view_.status.is_gone = run_.was_gone;
    publisher_.publish_curves(view_, at_once);
    publisher_.publish_status(view_.status, at_once);
}

void Run::note_saved(int64_t step) {
    view_.status.saved_step = step;
    log_event("save", "");
    publish_stored_steps();
}

void Run::save(SaveKind kind) {
    prepare_training();
    const int64_t step = model_.trainer->steps_done();
    files_.forget(checkpoint_path(run_.path, step));
    const OnFailure note_saved_part([&] {  // what is written beside the checkpoint failed
        if (run_.loop->saved_step() == step) view_.status.saved_step = step;
    });
    const std::filesystem::path path = run_.loop->save(kind);
    if (std::exchange(view_.reads_log_again, false)) read_rows_again();
    if (view_.status.can_resume) view_.status.error.clear();
    if (kind != SaveKind::by_time) view_.status.message = fmt::format("saved {}", path.string());
    note_saved(step);
}

// Needs nothing of the run folder: that may be gone.
void Run::save_copy(const Command& command) {
    const std::string& path = command.text;
    const std::filesystem::path file = path;
    const std::string problem = error_words(
        [&] {
            if (const std::string why = why_no_weights(/*is_copy=*/true); !why.empty())
                fail("{}", why);
            AFT_CHECK(file.extension() == ".safetensors",
                      "{}: expected a name that ends in .safetensors", path);
            AFT_CHECK(!std::filesystem::exists(file), "{}: is there already: choose another name",
                      path);
            if (file.has_parent_path()) make_folder(file.parent_path());
            write_checkpoint(file,
                             model_.trainer ? model_.trainer->checkpoint(true) : *model_.opened);
        },
        plain_words);
    view_.status.copy = {command.number, problem};
    view_.status.message = problem.empty() ? "copy saved: " + path : "copy not saved: " + problem;
}

std::string Run::why_no_weights(bool is_copy) const {
    if (view_.status.following)
        return "another process trains this run: it can only be watched here";
    if (model_.trainer || model_.opened) return "";
    if (view_.status.state != RunState::ready) return "no model is open";
    return is_copy ? "no checkpoint is left of this run: there are no weights to save"
                   : "no checkpoint is left of this run: it cannot be trained";
}

// For good, if it is saved or is the step training rests at.
void Run::keep(int64_t step) {
    if (!run_.folder) return;
    if (step == model_.trainer->steps_done() && view_.status.state != RunState::running)
        return save(SaveKind::by_hand);
    const std::vector<int64_t> saved = checkpoint_steps(run_.path);
    if (std::binary_search(saved.begin(), saved.end(), step))
        run_.folder->keep_save(step, SaveKind::by_hand);
}

// A full disk or too little memory leaves the trainer whole: it can resume when the cause is gone,
// and what was learnt can be saved.
void Run::set_error(const std::string& words) {
    Status& status = view_.status;
    status.can_resume = model_.trainer && run_.folder;
    if (status.can_resume && status.state == RunState::running) {
        log_failed_step(words);
        view_.reads_log_again = true;
    }
    status.following = false;
    apply(status.can_resume ? RunEvent::held_up : RunEvent::failed);
    pause_at_ = -1;
    status.error = words;
    (void)look_for_folder();
    if (status.is_gone && status.can_resume)
        status.error += "; \"Save elsewhere\" writes what is in memory";
    status.message.clear();
    check_saves();
    if (!status.can_resume) return;
    status.step = model_.trainer->steps_done();
    const std::string problem = error_words([&] { publish_weights(); }, plain_words);
    if (!problem.empty()) status.message = "what is shown is of an older step: " + problem;
}

// What was saved in the folder may be gone with it, be back with it, or have been deleted alone.
void Run::check_saves() {
    int64_t& saved = view_.status.saved_step;
    const bool has_folder = run_.is_old || run_.folder;
    std::error_code ignored;
    const std::filesystem::file_status place =
        std::filesystem::status(checkpoints_folder(run_.path), ignored);
    // What cannot be listed may hold it.
    const bool is_known = std::filesystem::is_directory(place) || !std::filesystem::exists(place);
    if ((saved < 0 && !run_.folder) || !has_folder || !is_known) return;
    const std::vector<int64_t> there = checkpoint_steps(run_.path);
    if (std::binary_search(there.begin(), there.end(), saved)) return;
    const int64_t newest = there.empty() ? -1 : there.back();
    if (std::exchange(saved, newest) != newest) publish_stored_steps();
}

void Run::begin() {
    prepare_training();
    view_.status.error.clear();
    view_.status.message = std::exchange(run_.unsaved_steps, "");
    apply(RunEvent::begun);
    view_.last_step_time = Clock::now();
    publish_stored_steps();
    // Its folder was gone, and has been put back.
    if (view_.status.saved_step < 0) check_saves();
}

bool Run::is_gone() const {
    std::error_code ignored;
    if (run_.folder) return !is_run_folder(run_.path);  // what was written since is no run
    return run_.is_old && !std::filesystem::exists(run_.path, ignored);
}

bool Run::look_for_folder() {
    run_.looked_at = Clock::now();
    Status& status = view_.status;
    const bool was_gone = std::exchange(status.is_gone, !status.error.empty() && is_gone());
    if (was_gone && !status.is_gone) {
        check_saves();
        publish_stored_steps();
    }
    return was_gone != status.is_gone;
}

void Run::halt(RunEvent event) {
    pause_at_ = -1;
    apply(event);
    if (event != RunEvent::paused && has_unsaved_steps()) save(SaveKind::scheduled);
    publish_weights();
    publisher_.publish_curves(view_, /*at_once=*/true);
}

void Run::start() {
    Status& status = view_.status;
    if (status.state == RunState::running) return;
    if (status.step < status.target_step) {
        begin();
        pause_at_ = -1;
        return;
    }
    if (run_.folder && (has_unsaved_steps() || !status.error.empty())) {
        save(SaveKind::scheduled);  // what an error kept from it
        halt(RunEvent::finished);
    }
    status.message = fmt::format("step {} of {} is reached: set a higher target step to continue",
                                 status.step, status.target_step);
}

void Run::obey(const Command& command) {
    const bool moves_data = command.kind == CommandKind::set && command.key == "data.source";
    if (moves_data && !model_.trainer) return move_data(command.text);
    if (command.kind == CommandKind::save_copy) return save_copy(command);
    if (const std::string why = why_no_weights(/*is_copy=*/false); !why.empty()) {
        view_.status.message = why;  // where opening failed its own words stay
        return;
    }
    switch (command.kind) {
        case CommandKind::start:
            return start();
        case CommandKind::pause:
            if (view_.status.state == RunState::running) halt(RunEvent::paused);
            return;
        case CommandKind::step:
            begin();
            pause_at_ = model_.trainer->steps_done() + std::max<int64_t>(command.number, 1);
            return;
        case CommandKind::run_until:
            view_.status.target_step = std::max<int64_t>(command.number, 0);
            log_target();
            return start();
        case CommandKind::stop:
            if (!run_.folder) return;
            apply(RunEvent::stop_asked);
            publisher_.publish_status(view_.status, /*at_once=*/true);
            return halt(RunEvent::finished);
        case CommandKind::save:
            return save(SaveKind::by_hand);
        case CommandKind::save_copy:
            return save_copy(command);
        case CommandKind::rewind:
            return rewind(command.number);
        case CommandKind::set:
            return change(command.key, command.text);
        case CommandKind::note:
            return log_event("note", command.text);
        case CommandKind::keep:
            return keep(command.number);
    }
}

void Run::advance() {
    if (view_.status.following)
        follow();
    else
        step();
}

void Run::step() {
    const auto start = Clock::now();
    const StepReport report = run_.loop->step();
    if (!report.failure.empty()) {
        view_.status.can_resume = false;
        view_.curves.events.push_back({report.step + 1, "error", report.failure});
        ++view_.curves.version;
        halt(RunEvent::paused);
        view_.status.error = report.failure;
        return;
    }
    add_report(view_, report);
    if (std::exchange(view_.reads_log_again, false)) read_rows_again();
    if (run_.loop->saved_step() == report.step) {
        files_.forget(checkpoint_path(run_.path, report.step));
        note_saved(report.step);
    } else if (report.values.contains("validation.loss")) {
        publish_stored_steps();
    }
    if (report.error) std::rethrow_exception(report.error);
    publisher_.publish_weights_when_due(*model_.trainer);
    view_.status.publish_ms = publisher_.weights_ms();
    finish_step(report, start);
    check_files();
}

// What comes after a step: a rest of the length that the window left to training, or the end.
void Run::finish_step(const StepReport& report, Clock::time_point start) {
    const bool is_at_end = report.step >= view_.status.target_step && pause_at_ < 0;
    const std::string reason = run_.loop->stop_reason();
    if (is_at_end || !reason.empty()) {
        run_.loop->log_last();
        if (!reason.empty()) log_event("stop", reason);
        halt(RunEvent::finished);
        view_.status.message =
            reason.empty() ? fmt::format("step {} reached and saved", report.step)
                           : fmt::format("stopped and saved at step {}: {}", report.step, reason);
    } else if (report.step == pause_at_) {
        halt(RunEvent::paused);
    } else if (const double rest = 1 / channels_.commands.share() - 1; rest > 0) {
        const auto took = Clock::now() - start;
        channels_.commands.yield_until(Clock::now() +
                                       std::chrono::duration_cast<Clock::duration>(took * rest));
    }
}

std::optional<Clock::time_point> Run::next_deadline() const {
    std::optional<Clock::time_point> next = files_.next_look();
    if (!view_.status.error.empty() || only_rests()) {
        const auto look = run_.looked_at + kFolderLooks;
        next = std::min(next.value_or(look), look);
    }
    // A pause does not keep steps from being saved in time. One that failed waits for the user.
    if (run_.loop && view_.status.error.empty())
        if (const auto save = run_.loop->next_save()) next = std::min(next.value_or(*save), *save);
    return next;
}

bool Run::meet_deadline() {
    const bool has_error = !view_.status.error.empty();
    if (has_error && Clock::now() >= run_.looked_at + kFolderLooks && look_for_folder())
        return true;
    if (only_rests() && Clock::now() >= run_.looked_at + kFolderLooks && look_at_rest())
        return true;
    if (check_files()) return true;
    if (!run_.loop || !view_.status.error.empty()) return false;
    const auto due = run_.loop->next_save();
    if (!due || Clock::now() < *due) return false;
    save(SaveKind::by_time);
    return true;
}

// Who asked for a stop has read in the status what became of it.
void Run::end() {
    if (!has_unsaved_steps()) return;
    const std::string problem = error_words([&] { run_.loop->save(); }, plain_words);
    const int64_t step = model_.trainer->steps_done();
    if (problem.empty() || channels_.stops_asked > 0 || run_.loop->saved_step() == step) return;
    warn_once(fmt::format("{}: step {} could not be saved: {}", run_.path, step, problem));
}

}  // namespace aft::session
