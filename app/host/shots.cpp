#include "app/host/shots.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/host/headless_run.h"
#include "core/clock.h"
#include "core/files.h"

namespace aft::app {

namespace {

// What must be open: nothing, a run that became NaN, a run trained for the pictures, or the model
// asked for (without one, the trained run). The list below stands in this order.
enum class Stock { none, broken, fresh, model };

struct Shot {
    const char* name;  // of the file
    const char* workspace;
    const char* script;  // lines after the workspace is shown
    ThemeName theme = ThemeName::dark;
    float scale = 1;
    int width = 1600, height = 1000;
    Stock needs = Stock::model;
    const char* after = "";  // script lines that put things back for the next picture
};

constexpr const char* kComplete = "key Ctrl+Enter\nframes 60\n";

constexpr Shot kShots[] = {
    {.name = "14-empty", .workspace = "Biases", .script = "", .needs = Stock::none},
    {.name = "14-empty-train", .workspace = "Train", .script = "", .needs = Stock::none},
    {.name = "14-empty-complete", .workspace = "Complete", .script = "", .needs = Stock::none},
    {.name = "15-error",
     .workspace = "Train",
     .script = "set Curves/Scale/y axis Log\n",
     .needs = Stock::broken},
    {.name = "02-train",
     .workspace = "Train",
     .script = "set Curves/Scale/y axis Linear\n",
     .needs = Stock::fresh},
    {.name = "02-train-completions",
     .workspace = "Train",
     .script = "click Completions/Main/Tab\nframes 150\n",
     .needs = Stock::fresh},
    {.name = "02-train-atlas",
     .workspace = "Train",
     .script = "click Biases/Main/Tab\n",
     .needs = Stock::fresh,
     .after = "click Curves/Main/Tab\n"},
    {.name = "02-train-biases", .workspace = "Biases", .script = "", .needs = Stock::fresh},
    {.name = "04-biases-change",
     .workspace = "Biases",
     .script = "First moment\nScrub forward\nkey P\nkey End\nkey D\nAtlas or focus\n",
     .needs = Stock::fresh,
     .after = "Remove pins\nAtlas or focus\n"},
    {.name = "08-compare-steps",
     .workspace = "Compare",
     .script = "Compare with another step\nframes 90\n",
     .needs = Stock::fresh,
     .after = "Remove all slots\n"},
    {.name = "08-compare-difference",
     .workspace = "Compare",
     .script = "Compare with another step\nNext comparison view\nNext comparison view\n"
               "Next comparison view\nNext comparison table\nframes 90\n",
     .needs = Stock::fresh,
     .after = "Next comparison view\nNext comparison view\nNext comparison table\n"
              "Next comparison table\nNext comparison table\nNext comparison table\n"
              "Remove all slots\n"},
    {.name = "08-compare-ratio-light",
     .workspace = "Compare",
     .script = "Compare with another step\nNext comparison view\nNext comparison view\n"
               "Next comparison view\nNext comparison view\nNext comparison table\n"
               "Next comparison table\nNext comparison table\nframes 90\n",
     .theme = ThemeName::light,
     .needs = Stock::fresh,
     .after = "Next comparison view\nNext comparison table\nNext comparison table\n"
              "Remove all slots\n"},
    {.name = "10-train-light",
     .workspace = "Train",
     .script = "",
     .theme = ThemeName::light,
     .needs = Stock::fresh},
    {.name = "12-small-train-1100x700",
     .workspace = "Train",
     .script = "",
     .width = 1100,
     .height = 700,
     .needs = Stock::fresh},
    {.name = "12-smallest-train-800x560",
     .workspace = "Train",
     .script = "",
     .width = 800,
     .height = 560,
     .needs = Stock::fresh},
    {.name = "01-home", .workspace = "Home", .script = ""},
    {.name = "02-train-opened", .workspace = "Train", .script = ""},
    {.name = "03-biases-atlas", .workspace = "Biases", .script = ""},
    {.name = "04-biases-focus", .workspace = "Biases", .script = "Next layer\nAtlas or focus\n"},
    {.name = "05-attention", .workspace = "Attention", .script = ""},
    {.name = "06-attention-keys", .workspace = "Attention", .script = "click Keys/Main/Tab\n"},
    {.name = "07-complete", .workspace = "Complete", .script = kComplete},
    {.name = "08-compare", .workspace = "Compare", .script = ""},
    {.name = "09-lab", .workspace = "Lab", .script = ""},
    {.name = "10-biases-light", .workspace = "Biases", .script = "", .theme = ThemeName::light},
    {.name = "11-biases-2x",
     .workspace = "Biases",
     .script = "",
     .scale = 2,
     .width = 3200,
     .height = 2000},
    {.name = "12-small-1100x700",
     .workspace = "Biases",
     .script = "",
     .width = 1100,
     .height = 700},
    {.name = "12-smallest-800x560",
     .workspace = "Biases",
     .script = "",
     .width = 800,
     .height = 560},
    {.name = "13-palette",
     .workspace = "Biases",
     .script = "Command palette\nset Palette/Main/Search range\nframes 4\n"},
    {.name = "16-high-contrast",
     .workspace = "Biases",
     .script = "",
     .theme = ThemeName::high_contrast},
    {.name = "17-keys", .workspace = "Biases", .script = "Keys and help\n"},
    {.name = "18-open", .workspace = "Home", .script = "Open...\n"}};

bool is_wanted(const ShotRequest& request, const Shot& shot) {
    if (request.names.empty()) return true;
    return std::any_of(request.names.begin(), request.names.end(), [&](const std::string& name) {
        if (name == shot.name) return true;
        std::string lower = name;
        std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
        std::string workspace = shot.workspace;
        std::transform(workspace.begin(), workspace.end(), workspace.begin(), ::tolower);
        const bool is_plain = shot.needs == Stock::model && shot.theme == ThemeName::dark &&
                              shot.scale == 1 && shot.width == 1600 && *shot.script == 0;
        return lower == workspace && (is_plain || shot.script == kComplete);
    });
}

void check_names(const ShotRequest& request) {
    for (const std::string& name : request.names) {
        const ShotRequest one{.names = {name}, .open = {}, .out = {}};
        std::string allowed;
        bool found = false;
        for (const Shot& shot : kShots) {
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
        if (shot.needs != Stock::broken) ui.toasts = {};  // its message is part of that picture
        ImGui::GetIO().AddMousePosEvent(-1, -1);
        run_script(stage, std::string("workspace ") + shot.workspace + "\nframes 4\n" + shot.script,
                   shot.name);
        settle(stage, 12);
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
    stage.frame().open(request.open);
    stage.step();
    AFT_CHECK(stage.ui().session != nullptr, "{}",
              stage.ui().toasts.history().empty() ? "not opened: " + request.open
                                                  : stage.ui().toasts.history().back().detail);
    wait_for(stage, is_open, 60);
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
    wait_for(
        stage, [](const Status& s) { return s.state == RunState::stopped; }, 300);
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
    wait_for(stage, is_open, 60);
    Session& session = *stage.frame().session();
    session.run().step(kSteps);
    wait_for(
        stage, [](const Status& s) { return s.state == RunState::paused && s.step >= kSteps; }, 60);
    session.run().set("train.learning_rate", "10");
    session.run().set("train.weight_decay", "10");  // weights times -99 at every step
    session.run().start();
    wait_for(
        stage, [](const Status& s) { return !s.error.empty(); }, 60);
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
    Stock stock = Stock::none;
    for (const Shot& shot : kShots) {
        if (!is_wanted(request, shot)) continue;
        const bool is_same =
            shot.needs == Stock::model && request.open.empty() && stock == Stock::fresh;
        if (shot.needs != stock && !is_same) {
            if (shot.needs == Stock::broken) break_run(stage, runs);
            if (shot.needs == Stock::model && !request.open.empty()) open_model(stage, request);
            if (shot.needs == Stock::fresh || (shot.needs == Stock::model && request.open.empty()))
                train_run(stage, runs, note);
        }
        stock = shot.needs;
        gallery.take(shot);
    }
    return gallery.written;
}

}  // namespace aft::app
