// The trainer thread: commands, one step at a time, and what each leaves behind. The only place
// that catches the exceptions of a step; they become the session's error state.
#include <algorithm>
#include <cmath>

#include "core/warnings.h"
#include "model/jobs.h"
#include "model/session/trainer_state.h"

namespace aft::session {

void save_now(Live& live, Shared& shared, SaveKind kind) {
    prepare_training(live, shared);
    const int64_t step = live.trainer->steps_done();
    live.files.known.erase(checkpoint_path(live.run, step));
    std::filesystem::path path;
    try {
        path = live.recorder->save(kind);
    } catch (...) {
        if (live.recorder->saved_step() == step) live.status.saved_step = step;
        live.dirty = live.dirty && live.status.saved_step != step;
        throw;
    }
    live.status.saved_step = step;
    live.dirty = false;
    if (live.status.can_go_on) live.status.error.clear();
    if (kind != SaveKind::by_time) live.status.message = fmt::format("saved {}", path.string());
    add_event(live, "save", "");
    publish_moments(live, shared);
}

namespace {

// A full disk or too little memory leaves the trainer whole: it can go on when the cause is gone,
// and what was learnt can be saved.
void to_error(Live& live, Shared& shared, const std::string& what) {
    live.status.can_go_on = live.trainer && live.folder;
    live.status.state = live.status.can_go_on ? RunState::paused : RunState::error;
    live.pause_at = -1;
    live.status.error = what;
    live.status.message.clear();
    if (!live.status.can_go_on) return;
    const int64_t done = live.trainer->steps_done();
    live.dirty = live.dirty || done > live.status.step;  // it was met after the weights moved
    live.status.step = done;
    try {
        publish_weights(live, shared, false);
    } catch (const std::exception&) {  // the window shows older weights then, and their step
    }
}

void begin(Live& live, Shared& shared) {
    prepare_training(live, shared);
    live.status.error.clear();
    live.status.message = std::exchange(live.lost, "");
    live.status.state = RunState::running;
    live.last_step_time = Clock::now();
    publish_moments(live, shared);
}

void halt(Live& live, Shared& shared, RunState state) {
    live.pause_at = -1;
    live.status.state = state;
    if (state != RunState::paused && live.dirty) save_now(live, shared);
    publish_weights(live, shared, false);
    publish_curves(live, shared, true);
}

// True if the step before this change was saved: training may diverge after it. Error if it could
// not be; the setting then stays as it was.
bool save_before(Live& live, Shared& shared, const std::string& key, const std::string& value) {
    Config config = live.config;
    SettingRows rows = config.rows();
    const Setting* row = find_setting(rows, key);
    if (!row || !row->risky || live.trainer->steps_done() == 0) return false;
    const std::string before = value_text(*row);
    set_from_text(rows, key, value);
    config.check();
    if (value_text(*row) == before) return false;
    if (!live.folder) {
        live.has_risky_change = true;
        return false;
    }
    try {
        save_now(live, shared, SaveKind::before_change);
    } catch (const std::exception& error) {
        fail("{} stays {}: the step before it could not be saved: {}", key, before, error.what());
    }
    return true;
}

// A setting that may change while training runs; before the first step any setting of a new run.
void change(Live& live, Shared& shared, const std::string& key, const std::string& value) {
    if (key == "train.steps") {
        Config config = live.config;
        SettingRows rows = config.rows();
        set_from_text(rows, key, value);
        live.status.target_step = config.train.steps;
        note_target(live);
    } else if (live.trainer && !live.folder && !live.opened) {
        Config config = live.config;
        SettingRows rows = config.rows();
        set_from_text(rows, key, value);
        config.check();
        live.trainer = std::make_unique<Trainer>(config, live.device);
        live.config = live.trainer->config();
        const int64_t target = live.status.target_step;
        describe_model(live, live.trainer->checkpoint(false));
        live.status.target_step = target;
        live.snapshot_pace.step = -1;
        publish_weights(live, shared, false);
    } else {
        make_trainer(live);
        const bool is_saved = save_before(live, shared, key, value);
        live.trainer->set(key, value);
        live.config = live.trainer->config();
        add_event(live, key == "train.learning_rate" ? "learning-rate" : "setting",
                  key + " = " + value);
        live.status.message = key + " = " + value;
        if (is_saved) live.status.message += fmt::format("; step {} is saved", live.status.step);
        return;
    }
    live.status.message = key + " = " + value;
}

// The data of an opened model lie elsewhere than when it was trained.
void move_data(Live& live, Shared& shared, const std::string& source) {
    live.data_source = live.config.data.source = source;
    if (live.opened) {
        auto moved = std::make_shared<Checkpoint>(*live.opened);
        moved->config.data.source = source;
        live.opened = std::move(moved);
        if (live.status.state == RunState::error) live.status.state = RunState::ready;
        live.status.error.clear();
    }
    live.status_pace = {};
    publish_status(live, shared);
    shared.items.clear();
}

void run_steps(Live& live, Shared& shared, int64_t count) {
    begin(live, shared);
    live.pause_at = live.trainer->steps_done() + std::max<int64_t>(count, 1);
}

void start(Live& live, Shared& shared) {
    if (live.status.state == RunState::running) return;
    if (live.status.step >= live.status.target_step) {
        if (live.folder && (live.dirty || !live.status.error.empty())) {
            save_now(live, shared);  // what an error kept from it
            halt(live, shared, RunState::stopped);
        }
        live.status.message =
            fmt::format("step {} of {} is reached: set a higher target step to go on",
                        live.status.step, live.status.target_step);
        return;
    }
    begin(live, shared);
    live.pause_at = -1;
}

void handle(Live& live, Shared& shared, const Command& command) {
    const bool has_moved = command.kind == Command::Kind::set && command.key == "data.source";
    if (has_moved && !live.trainer) return move_data(live, shared, command.text);
    if (live.status.following) {
        live.status.message = "another process trains this run: it can only be watched here";
        return;
    }
    if (!live.trainer && !live.opened) {  // opening failed: its words stay
        live.status.message = "no model is open";
        return;
    }
    using Kind = Command::Kind;
    const bool running = live.status.state == RunState::running;
    switch (command.kind) {
        case Kind::start:
            return start(live, shared);
        case Kind::pause:
            if (running) halt(live, shared, RunState::paused);
            return;
        case Kind::step:
            return run_steps(live, shared, command.number);
        case Kind::run_until:
            live.status.target_step = std::max<int64_t>(command.number, 0);
            note_target(live);
            return start(live, shared);
        case Kind::stop:
            if (!live.folder) return;
            live.status.state = RunState::stopping;
            live.status_pace = {};
            publish_status(live, shared);
            return halt(live, shared, RunState::stopped);
        case Kind::save:
            return save_now(live, shared, SaveKind::by_hand);
        case Kind::rewind:
            return rewind(live, shared, command.number);
        case Kind::set:
            return change(live, shared, command.key, command.text);
        case Kind::note:
            return add_event(live, "note", command.text);
    }
}

void handle_safely(Live& live, Shared& shared, const Command& command) {
    try {
        handle(live, shared, command);
    } catch (const std::exception& error) {
        // A wish that does not fit leaves the run as it is; anything else needs the user.
        using Kind = Command::Kind;
        const bool is_wish =
            command.kind == Kind::set || command.kind == Kind::note || command.kind == Kind::rewind;
        if (is_wish)
            live.status.message = plain_words(error);
        else
            to_error(live, shared, plain_words(error));
    }
    if (command.kind != Command::Kind::stop) return;
    live.status_pace = {};
    publish_status(live, shared);
    ++shared.stops_answered;
    shared.wake();
}

void one_step(Live& live, Shared& shared) {
    const auto start = Clock::now();
    live.recorder->finish();
    const StepReport report = live.trainer->step();
    if (!report.failure.empty()) {
        live.recorder->after_step(report);
        live.status.can_go_on = false;
        live.curves.events.push_back({report.step, "error", report.failure});
        ++live.curves.version;
        halt(live, shared, RunState::paused);
        live.status.error = report.failure;
        return;
    }
    live.dirty = true;
    add_report(live, report);
    live.recorder->after_step(report);
    if (live.recorder->saved_step() == report.step) {
        live.files.known.erase(checkpoint_path(live.run, report.step));
        live.status.saved_step = report.step;
        live.dirty = false;
        add_event(live, "save", "");
        publish_moments(live, shared);
    } else if (report.values.contains("validation.loss")) {
        publish_moments(live, shared);
    }
    if (report.error) std::rethrow_exception(report.error);
    publish_weights(live, shared, true);
    publish_curves(live, shared, false);
    if (report.step == live.pause_at) return halt(live, shared, RunState::paused);
    if (report.step >= live.status.target_step && live.pause_at < 0) {
        halt(live, shared, RunState::stopped);
        live.status.message = fmt::format("step {} reached and saved", report.step);
        return;
    }
    const double rest = 1 / shared.commands.share() - 1;
    if (rest > 0)
        shared.commands.yield_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                       (Clock::now() - start) * rest));
}

// A pause does not keep steps from being saved in time. One that failed waits for the user.
bool is_save_due(const Live& live) {
    if (!live.dirty || !live.recorder || !live.status.error.empty()) return false;
    const auto next = live.recorder->next_save();
    return next && Clock::now() >= *next;
}

// Until a command comes, or there is something new to show.
void rest(const std::stop_token& stop, Live& live, Shared& shared) {
    while (!stop.stop_requested()) {
        std::optional<Clock::time_point> until;
        if (!live.files.known.empty()) until = next_look(live);
        if (live.dirty && live.recorder && live.status.error.empty())
            if (const auto save = live.recorder->next_save())
                until = std::min(until.value_or(*save), *save);
        if (shared.commands.wait(stop, until) || stop.stop_requested()) return;
        if (look_at_files(live, shared)) return;
        if (is_save_due(live)) return save_now(live, shared, SaveKind::by_time);
    }
}

// Runs, rests or waits: one turn of the thread.
void turn(const std::stop_token& stop, Live& live, Shared& shared) {
    if (live.status.following) {
        look_at_files(live, shared);
        const bool grown = follow_once(live, shared);
        if (grown) publish_curves(live, shared, true);
        publish_status(live, shared);
        release_omp_team();
        shared.commands.wait(stop, Clock::now() + std::chrono::milliseconds(300));
        return;
    }
    if (live.status.state != RunState::running) {
        publish_curves(live, shared, true);
        publish_status(live, shared);
        release_omp_team();
        return rest(stop, live, shared);
    }
    const auto until = shared.commands.yielding();
    if (until > Clock::now()) {
        publish_status(live, shared);
        shared.commands.wait(stop, until);
        return;
    }
    one_step(live, shared);
    look_at_files(live, shared);
    publish_status(live, shared);
}

template <class Work>
void guarded(Live& live, Shared& shared, const Work& work) {
    try {
        work();
    } catch (const std::exception& error) {
        to_error(live, shared, plain_words(error));
        live.status.following = false;
        publish_curves(live, shared, true);
    }
}

// Ending keeps what was learnt. Who asked for a stop has read in the status what became of it.
void save_at_end(Live& live, const Shared& shared) {
    try {
        static_cast<void>(live.recorder->save());
    } catch (const std::exception& error) {
        if (shared.stops_asked > 0 || live.recorder->saved_step() == live.trainer->steps_done())
            return;
        warn_once(fmt::format("{}: step {} could not be saved: {}", live.run,
                              live.trainer->steps_done(), plain_words(error)));
    }
}

}  // namespace

void run_trainer(const std::stop_token& stop, Shared& shared, const OpenRequest& request) {
    Live live;
    use_threads(shared.all_threads);  // to the end: another number rounds differently
    live.request = request;
    live.status.state = RunState::opening;
    live.status.path = request.path;
    publish_status(live, shared);
    guarded(live, shared, [&] { open_live(live, shared); });
    if (request.autostart && !stop.stop_requested() && live.status.state == RunState::ready)
        handle_safely(live, shared, {Command::Kind::start, 0, "", ""});
    while (!stop.stop_requested()) {
        for (const Command& command : shared.commands.take()) handle_safely(live, shared, command);
        guarded(live, shared, [&] { turn(stop, live, shared); });
    }
    if (live.folder && live.dirty) save_at_end(live, shared);
}

}  // namespace aft::session
