#include "app/host/shots.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "app/host/headless_run.h"
#include "app/host/shot_list.h"
#include "core/clock.h"
#include "core/files.h"
#include "model/jobs/summary.h"

namespace aft::app {

namespace {

bool is_wanted(const ShotRequest& request, const Shot& shot) {
    if (request.names.empty()) return true;
    return std::any_of(request.names.begin(), request.names.end(), [&](const std::string& name) {
        if (name == shot.name) return true;
        std::string lower = name;
        std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
        std::string workspace = shot.workspace;
        std::transform(workspace.begin(), workspace.end(), workspace.begin(), ::tolower);
        const bool is_plain = shot.needs == ShotStock::model && shot.theme == ThemeName::dark &&
                              shot.scale == 1 && shot.width == 1600 && *shot.script == 0;
        return lower == workspace && (is_plain || shot.script == kCompleteShot);
    });
}

void check_names(const ShotRequest& request) {
    for (const std::string& name : request.names) {
        const ShotRequest one{.names = {name}, .open = {}, .out = {}};
        std::string allowed;
        bool found = false;
        for (const Shot& shot : all_shots()) {
            found = found || is_wanted(one, shot);
            allowed += std::string(allowed.empty() ? "" : ", ") + shot.name;
        }
        if (!found)
            fail_usage(
                "shot: found '{}'; allowed: Home, Train, Biases, Attention, Complete, Compare, "
                "Lab, {}",
                name, allowed);
    }
}

// Steps until `ready`; throws the session's error.
void wait_for(HeadlessStage& stage, const std::function<bool(const Status&)>& ready,
              double seconds) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        stage.step();
        const Status& status = stage.ui().status;
        if (ready(status)) return;
        if (status.state == RunState::error || (status.can_resume && !status.error.empty()))
            fail("{}", status.error);
        AFT_CHECK(seconds_since(start) < seconds, "the model is not ready after {:.0f} s", seconds);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the trainer needs the cores
    }
}

// Limits for what never comes: machines may be slow.
constexpr double kTraining_s = 1200, kOpening_s = 300, kSettling_s = 120;

struct Gallery {
    const ShotRequest& request;
    HeadlessStage& stage;
    std::vector<ShotFile> written;

    void take(const Shot& shot) {
        Ui& ui = stage.ui();
        const int width = request.width > 0 ? request.width : shot.width;
        const int height = request.height > 0 ? request.height : shot.height;
        stage.resize(width, height);
        ui.settings.theme = shot.theme;
        stage.frame().set_display_scale(request.scale > 0 ? static_cast<float>(request.scale)
                                                          : shot.scale);
        if (shot.needs != ShotStock::broken) ui.toasts = {};  // its message is part of that picture
        ImGui::GetIO().AddMousePosEvent(-1, -1);
        run_script(stage, std::string("workspace ") + shot.workspace + "\nframes 4\n" + shot.script,
                   shot.name);
        settle(stage, kSettling_s);
        save(shot.name);
        ui.selection.unlock();
        run_script(stage, std::string("key Esc\nkey Esc\n") + shot.after, shot.name);
    }
    void save(const std::string& name) {
        const fs::path path = fs::path(request.out) / (name + ".png");
        const Image picture = stage.picture();
        write_png(path, picture);
        written.push_back({path.string(), picture.width, picture.height});
    }
};

bool is_open(const Status& s) {
    return s.state != RunState::opening && s.state != RunState::empty;
}

void open_model(HeadlessStage& stage, const ShotRequest& request) {
    // The folder of a sweep is a page of Home in the window, and shows no model.
    if (std::filesystem::is_directory(request.open)) check_model(request.open);
    stage.frame().open(request.open);
    stage.step();
    AFT_CHECK(stage.ui().session != nullptr, "{}",
              stage.ui().toasts.history().empty() ? "not opened: " + request.open
                                                  : stage.ui().toasts.history().back().detail);
    wait_for(stage, is_open, kOpening_s);
}

void train_run(HeadlessStage& stage, const TemporaryFolder& runs,
               const std::function<void(const std::string&)>& note) {
    note("training demo-mirror for the pictures");
    OpenRequest run;
    run.config = load_preset("demo-mirror");
    run.config->train.checkpoint_every = 50;
    run.out = (runs / "demo-mirror").string();
    run.autostart = true;
    stage.ui().commands.send(OpenRun{std::move(run)});
    wait_for(stage, [](const Status& s) { return s.state == RunState::stopped; }, kTraining_s);
}

// Learns for a while, then gets a learning rate that no training survives.
void break_run(HeadlessStage& stage, const TemporaryFolder& runs) {
    constexpr int64_t kSteps = 60, kSaved = 20;
    OpenRequest run;
    run.config = load_preset("demo-mirror");
    run.config->name = "too-fast";
    run.config->train.batch = 4;
    run.config->train.clip = 0;
    run.config->train.validate_every = kSaved;
    run.config->train.validate_examples = 4;
    run.config->train.checkpoint_every = kSaved;
    run.out = (runs / "too-fast").string();
    stage.ui().commands.send(OpenRun{std::move(run)});
    wait_for(stage, is_open, kOpening_s);
    Session& session = *stage.frame().session();
    session.run().step(kSteps);
    wait_for(
        stage, [](const Status& s) { return s.state == RunState::paused && s.step >= kSteps; },
        kOpening_s);
    session.run().set("train.learning_rate", "10");
    session.run().set("train.weight_decay", "10");  // weights times -99 at every step
    session.run().start();
    wait_for(stage, [](const Status& s) { return !s.error.empty(); }, kOpening_s);
}

}  // namespace

std::vector<ShotFile> shoot_window(const ShotRequest& request,
                                   const std::function<void(const std::string&)>& note) {
    check_names(request);
    make_folder(request.out);
    FrameOptions options;
    options.device = request.device;
    // The runs that are made for the pictures; before the stage, which closes them.
    const TemporaryFolder runs;
    HeadlessStage stage(std::move(options), 1600, 1000);
    stage.step();
    Gallery gallery{request, stage, {}};
    ShotStock stock = ShotStock::none;
    for (const Shot& shot : all_shots()) {
        if (!is_wanted(request, shot)) continue;
        const bool is_same =
            shot.needs == ShotStock::model && request.open.empty() && stock == ShotStock::fresh;
        if (shot.needs != stock && !is_same) {
            if (shot.needs == ShotStock::broken) break_run(stage, runs);
            if (shot.needs == ShotStock::model && !request.open.empty()) open_model(stage, request);
            if (shot.needs == ShotStock::fresh ||
                (shot.needs == ShotStock::model && request.open.empty()))
                train_run(stage, runs, note);
        }
        stock = shot.needs;
        gallery.take(shot);
    }
    return gallery.written;
}

}  // namespace aft::app
