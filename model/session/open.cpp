// Opening: a new run, a checkpoint file, or a run folder (ours to go on with, or another's to
// follow). Trainer thread; blocks on files, the window does not.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "model/device.h"
#include "model/session/trainer_state.h"
#include "model/train/run_state.h"

namespace aft::session {

namespace {

void open_new(Live& live, Shared& shared) {
    AFT_CHECK(live.request.config.has_value(), "nothing to open: no path and no settings");
    live.trainer = std::make_unique<Trainer>(*live.request.config, live.device);
    live.config = live.trainer->config();
    live.run =
        live.request.out.empty() ? new_run_path(live.config.name).string() : live.request.out;
    describe_model(live, live.trainer->checkpoint(false));
    live.status.path = live.run;
    publish_weights(live, shared, false);
}

void open_file(Live& live, Shared& shared, const std::string& path) {
    watch_file(live, resolve_model(path).string());  // before it is read
    auto checkpoint = std::make_shared<Checkpoint>(read_checkpoint(path));
    live.config = checkpoint->config;
    describe_model(live, *checkpoint);
    live.status.saved_step = checkpoint->step;
    live.opened = checkpoint;
    publish_checkpoint(live, shared, checkpoint);
}

void open_run(Live& live, Shared& shared) {
    live.run = live.request.path;
    live.resume = true;
    live.config = load_config_file((fs::path(live.run) / "config.json").string());
    live.status.config = live.config;
    live.status.following = is_locked(live.run);
    read_metrics_rows(live, shared);
    add_events(live);
    publish_moments(live, shared);
    const bool empty = checkpoint_steps(live.run).empty();
    if (!empty || !live.status.following) {
        open_file(live, shared, live.run);  // without a checkpoint: an error that says so
        live.status.target_step =
            std::max(live.status.target_step, asked_steps(read_events(live.run), live.config));
        if (!live.status.following) live.status.message = steps_without_weights(live);
        return;
    }
    live.status.message = "waiting for the first checkpoint of this run";
}

}  // namespace

bool is_locked(const std::string& run) {
    const int file = open((fs::path(run) / "run.lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return locked;
}

std::string steps_without_weights(const Live& live) {
    const NumberColumn& steps = live.curves.step;
    const int64_t last = steps.empty() ? -1 : std::llround(steps.back());
    if (!live.opened || last <= live.opened->step) return "";
    return fmt::format("saved is step {}; {} when training goes on", live.opened->step,
                       lost_words(live.opened->step, last));
}

void open_live(Live& live, Shared& shared) {
    live.device = parse_device(live.request.device);
    live.status.device = live.device.str();
    live.status.path = live.request.path;
    if (live.request.path.empty()) {
        open_new(live, shared);
    } else if (is_run_folder(live.request.path)) {
        open_run(live, shared);
    } else {
        open_file(live, shared, live.request.path);
        live.run =
            live.request.out.empty() ? new_run_path(live.config.name).string() : live.request.out;
    }
    live.status.can_train = !live.status.following;
    live.status.state = live.status.following ? RunState::running : RunState::ready;
    publish_curves(live, shared, true);
}

void make_trainer(Live& live) {
    if (live.trainer) return;
    AFT_CHECK(live.opened != nullptr, "there is nothing to train: no model is open");
    live.trainer = std::make_unique<Trainer>(*live.opened, live.device);
    live.config = live.trainer->config();
}

void prepare_training(Live& live, Shared& shared) {
    make_trainer(live);
    if (live.folder) return;
    auto folder = live.resume ? std::make_unique<RunFolder>(live.run)
                              : std::make_unique<RunFolder>(live.run, live.config);
    const int64_t step = live.trainer->steps_done();
    if (live.resume) folder->go_on_from(step, live.config);
    live.files = {};  // what was dropped comes again
    live.recorder = std::make_unique<Recorder>(*folder, *live.trainer);
    const bool has_risky_change = std::exchange(live.has_risky_change, false);
    if (has_risky_change && live.resume) folder->keep_save(step, SaveKind::before_change);
    if (has_risky_change && !live.resume) live.recorder->save(SaveKind::before_change);
    live.folder = std::move(folder);
    live.status.path = live.run;
    const NumberColumn& logged = live.curves.step;
    if (!logged.empty() && logged.back() > double(step)) {  // of a process that was killed
        live.lost = lost_words(step, std::llround(logged.back()));
        read_logs(live, shared);
    }
    note_target(live);
    live.opened.reset();
    live.resume = true;
}

}  // namespace aft::session
