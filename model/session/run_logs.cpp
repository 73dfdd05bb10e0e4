// The logs of the run folder: read into the curves, and events written to them.
#include <algorithm>
#include <utility>

#include "core/caught.h"
#include "model/checkpoints/run_paths.h"
#include "model/device.h"
#include "model/session/run.h"
#include "model/train/run_state.h"

namespace aft::session {

bool Run::read_metrics() {
    bool has_grown = false;
    while (read_rows(run_.path, view_.metrics_offset, view_.curves)) {
        has_grown = true;
        publisher_.publish_curves(view_, /*at_once=*/false);
    }
    if (has_grown) show_last_row(view_);
    return has_grown;
}

void Run::read_logs() {
    const uint64_t version = view_.curves.version;
    view_.curves = {};
    view_.curves.version = version + 1;
    view_.metrics_offset = 0;
    view_.metrics_inode = log_inode(run_.path);  // before it is read: a newer one is noticed
    read_metrics();
    read_run_events(view_, run_.path);
}

// Rows that an error kept from the curves. What is shown stays where the log is not whole or cannot
// be read; so do the events, some of which the screen alone may have.
void Run::read_rows_again() {
    Curves read;
    uint64_t offset = 0;
    const uint64_t inode = log_inode(run_.path);
    const auto failed = caught([&] {
        while (read_rows(run_.path, offset, read)) continue;
    });
    if (failed || read.step.size() < view_.curves.step.size()) return;
    read.events = std::move(view_.curves.events);
    read.version = view_.curves.version + 1;
    view_.curves = std::move(read);
    view_.metrics_offset = offset;
    view_.metrics_inode = inode;
    show_last_row(view_);
}

void Run::log_event(const std::string& kind, const std::string& text) {
    add_event(view_, kind, text);
    if (run_.folder) run_.folder->event(kind, view_.status.step, {{"text", text}});
}

// On a full disk it is shown on the screen alone.
void Run::log_failed_step(const std::string& words) {
    const int64_t step = model_.trainer->steps_done() + 1;
    static_cast<void>(error_words([&] { run_.folder->event("error", step, {{"text", words}}); }));
    view_.curves.events.push_back({step, "error", words});
    ++view_.curves.version;
}

void Run::log_target() {
    const Status& status = view_.status;
    if (run_.folder && keep_target(*run_.folder, config(), status.step, status.target_step))
        read_run_events(view_, run_.path);
}

void Run::publish_stored_steps() {
    StoredSteps stored;
    if (is_gone()) stored.run = run_.path;  // its errors name it
    if (!run_.path.empty() && is_run_folder(run_.path)) {
        stored.run = run_.path;
        const std::filesystem::path history = history_folder(run_.path);
        stored.steps = history_steps(history);
        stored.saved = checkpoint_steps(run_.path);
        for (const int64_t step : stored.steps) files_.watch(history_path(history, step));
        for (const int64_t step : stored.saved) files_.watch(checkpoint_path(run_.path, step));
        stored.steps.insert(stored.steps.end(), stored.saved.begin(), stored.saved.end());
        std::sort(stored.steps.begin(), stored.steps.end());
        stored.steps.erase(std::unique(stored.steps.begin(), stored.steps.end()),
                           stored.steps.end());
    }
    publisher_.publish_stored_steps(std::move(stored));
}

}  // namespace aft::session
