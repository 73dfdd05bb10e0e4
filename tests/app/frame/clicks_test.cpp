// Every control of every workspace, in any order and fed with nonsense, in four states of the run.
#include <iostream>

#include "app/panels/lab/lab_actions.h"
#include "app/panels/lab/lab_words.h"
#include "core/environment.h"
#include "core/images/image.h"
#include "tests/app/frame/clicks.h"
#include "tests/app/frame/more_nudges.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class RandomClicks : public BareTest {
  protected:
    // The longest wait for what luck may have put out of reach; it is tried again.
    static constexpr double kLuck_s = 20;

    void SetUp() override {
        initialize_model("cpu", 1);
        home_ = scratch_.path() / "a" / "b" / "files";
        fs::create_directories(home_ / "inner");
        write_png(home_ / "white.png", Image{8, 8, 3, std::vector<uint8_t>(size_t{192}, 255)});
        std::ofstream(home_ / "broken.safetensors") << "no checkpoint";
        std::ofstream(home_ / "broken.png") << "no picture";
        std::ofstream(home_ / "words.txt") << "some words";
        before_ = fs::current_path();
        fs::current_path(scratch_.path());  // what a run writes that was given no folder
    }
    void TearDown() override {
        BareTest::TearDown();
        fs::current_path(before_);
    }
    void make_stage() {
        make();
        ui().settings.last_folder = home_.string();
    }
    // A run of the tiny model that has made so many steps and rests.
    void open_run(int64_t steps, const Config& config = tiny_config()) {
        make_stage();
        run_ = (home_ / ("run" + std::to_string(++runs_))).string();
        OpenRequest request;
        request.config = config;
        request.out = run_;
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
        if (steps == 0) return;
        session().run().set("train.steps", "1000000");
        session().run().step(steps);
        run("wait Paused\n");
    }
    [[nodiscard]] bool is_other_model() {
        return ui().session == nullptr || !ui().has_model() || ui().status.path != run_ ||
               ui().status.state == RunState::error;
    }
    void reopen() {
        stage_->frame().open(run_);
        ASSERT_TRUE(until([this] { return !is_other_model(); }))
            << ui().status.error << last_actions();
    }
    [[nodiscard]] ClickRules rules() const {
        const std::string seed = variable("AFTERIMAGE_CLICK_SEED");
        ClickRules rules;
        rules.seed = !seed.empty() ? std::strtoull(seed.c_str(), nullptr, 10) : 11;
        rules.folder = home_.string();
        return rules;
    }
    void complete(int64_t samples) {
        ui().workspace = Workspace::complete;
        ui().selection.step = -1;
        ui().selection.completion.sample = {.samples = samples, .particles = samples > 4 ? 8 : 1};
        for (const char* action : {"mask.all", "complete.blank_picture", "complete.start"})
            ui().actions.run(ui(), action);
    }
    // The first layout and choices, with the same run.
    void open_afresh() {
        make_stage();
        reopen();
    }
    // Gives it some frames, and more while something is being read. What luck has done before may
    // keep it away: then there is no use in a longer wait.
    void until_usable(const char* id) {
        constexpr int kFrames = 500;
        const auto is_usable = [&] {
            const WidgetRecord* widget = ui().recorder.find(id);
            return widget != nullptr && widget->why_not.empty();
        };
        for (int i = 0; i < kFrames && !is_usable(); ++i) pass_frames(1);
        (void)until([&] { return is_usable() || !is_reading(ui().recorder.last()); }, kLuck_s);
    }
    // What luck has done before may leave it out of reach: then nothing happens.
    void click_usable(const std::string& id) {
        const WidgetRecord* const widget = ui().recorder.find(id);
        if (widget != nullptr && widget->why_not.empty()) run("click " + id + "\nframes 3\n");
    }
    void pin() {
        ui().selection.pin(ui().shown_step());
        stage_->step();
    }
    // Two slots that can be compared: the newest and a stored step, or the demo twice.
    void compare_steps() {
        ui().workspace = Workspace::compare;
        CompareChoice& compare = ui().selection.compare;
        compare.slots.clear();
        if (ui().session == nullptr) {
            for (int i = 0; i < 2; ++i)
                (void)compare.add({.path = source_file("assets/demo/mirror.safetensors").string()});
        } else {
            (void)compare.add({});
            if (ui().actions.why_not(ui(), "compare.add_step").empty())
                ui().actions.run(ui(), "compare.add_step");
        }
        pass_frames(30);
    }
    void open_menu(const std::string& name) {
        const WidgetRecord* title = ui().recorder.find("top_bar/menu/" + name);
        if (title != nullptr && title->why_not.empty()) run("click top_bar/menu/" + name + "\n");
    }
    // Toasts wait until a film is recorded.
    void stop_film() {
        for (int i = 0; i < 4 && ui().recorder.find("film/main/cancel") != nullptr; ++i)
            run("key Esc\nframes 2\n");
    }
    // With its card open.
    void offer_film(const char* control) {
        stop_film();
        complete(4);
        pass_frames(2);  // it has begun
        (void)until(
            [this] { return ui().session == nullptr || !session().completions().is_busy(); },
            kLuck_s);
        pass_frames(2);  // and is drawn
        ui().actions.run(ui(), "file.save_film");
        until_usable("film_card/main/what=generation");
        click_usable("film_card/main/what=generation");
        until_usable(control);
    }
    void record_film() {
        stop_film();
        ui().actions.run(ui(), "file.save_film");
        until_usable("film_card/main/save");
        if (!is_there("film_card/main/save")) return;
        run("set film_card/main/file " + (home_ / "film.apng").string() + "\n");
        click_usable("film_card/main/save");
        until_usable("film/main/cancel");
    }
    // What a rewind says; it goes by itself.
    void offer_branch() {
        stop_film();
        ui().toasts.add({.kind = ToastKind::done,
                         .title = "Back at step 20",
                         .action = "Open it",
                         .run = [run = run_](Ui& now) { now.commands.send(OpenPath{run}); }});
        until_usable("toasts/main/action");
    }
    // Another run than the open one, with its menu open: all others may have been forgotten.
    void offer_other_run() {
        const std::string path = (home_ / "other").string();
        std::erase_if(ui().settings.recent, [&](const RecentItem& it) { return it.path == path; });
        ui().settings.recent.push_back({.path = path, .name = "other", .what = "a run"});
        ui().settings.zoom = 1;
        stage_->set_size({1600, 1000});
        ui().workspace = Workspace::biases;
        stage_->step();
        const std::string more = "explorer/runs/more/" + path;
        until_usable(more.c_str());
        click_usable(more);
    }
    // One layer's maps of two slots, and space for all tools.
    void compare_layer() {
        ui().settings.zoom = 1;
        stage_->set_size({1600, 1000});
        compare_steps();
        ui().selection.compare.view = CompareView::side_by_side;
        until_usable("compare/main/head");
    }
    // A recipe and a blank picture as standing experiments, and their pane.
    void watch_experiments(const char* until_there) {
        if (!ui().has_model()) return;
        Experiments& now = ui().experiments;
        const ModelConfig& model = ui().status.config.model;
        if (now.recipes.empty()) {
            now.recipes.emplace_back().name = "watched";
            now.recipes.back().recipe.interventions.emplace_back().name = "zero";
        }
        if (now.completions.empty()) {
            WatchedCompletion& blank = now.completions.emplace_back();
            blank.height = model.height;
            blank.width = model.width;
            blank.mask.assign(size_t(model.height * model.width), 1);
        }
        ui().settings.zoom = 1;
        ui().workspace = Workspace::train;
        ui().commands.send(ShowPane{"watched"});
        until_usable(until_there);
    }
    // Nothing is changed yet: the result pane offers the first intervention.
    void empty_lab() {
        ui().selection.lab.recipe.interventions.clear();
        ui().selection.lab.problem.clear();
        ui().workspace = Workspace::lab;
        until_usable("result/main/lab.add");
    }
    // The Inspector shows an intervention of this name.
    void add_to_lab(const std::string& name) {
        ui().workspace = Workspace::lab;
        ui().settings.zoom = 1;
        add_intervention(ui(), name);
        stage_->step();
    }
    [[nodiscard]] decltype(ClickRules::nudges) lab_nudges() {
        decltype(ClickRules::nudges) nudges{
            {"result/main/lab.add", [this] { empty_lab(); }},
            {"your_operator/main/columns", [this] { run(kGridOperator); }}};
        for (const InterventionInfo& info : all_interventions())
            for (const InterventionOption& option : info.options)
                nudges.push_back({"inspector/intervention/" + option.key,
                                  [this, name = info.info.name] { add_to_lab(name); }});
        return nudges;
    }
    // Two models whose settings differ.
    void compare_with_demo() {
        compare_steps();
        (void)ui().selection.compare.add(
            {.path = source_file("assets/demo/mirror.safetensors").string()});
        pass_frames(30);
    }
    // Too little space for all channels of a picture that can be read.
    void crowd(const char* more) {
        ui().selection.image = {};
        ui().selection.step = -1;
        ui().settings.zoom = 3;
        until_usable(more);
    }
    // Another run, and what Compare shows.
    [[nodiscard]] decltype(ClickRules::nudges) form_nudges() {
        return {{"explorer/runs/forget_run", [this] { offer_other_run(); }},
                {"explorer/runs/overlay_run", [this] { ui().overlays.clear(), offer_other_run(); }},
                {"compare/main/read_again",
                 [this] {
                     compare_steps();
                     (void)ui().selection.compare.add({.path = "/no/such/run"});
                 }},
                {"compare/main/split_share",
                 [this] {
                     compare_steps();
                     ui().selection.compare.view = CompareView::split;
                     stage_->step();
                 }},
                {"compare/main/head", [this] { compare_layer(); }},
                {"compare/main/settings:", [this] { compare_with_demo(); }},
                {"compare/", [this] { compare_steps(); }},
                {"inspector/links/", [this] { compare_steps(); }}};
    }
    // A picture that cannot be read; completions that run, were stopped, and are finished.
    [[nodiscard]] decltype(ClickRules::nudges) nudges() {
        const auto broken = [this] {
            ui().commands.send(OpenPath{(home_ / "broken.png").string()});
        };
        const auto small = [this] { stage_->set_size({1100, 700}); };
        const auto completing = [this] {
            complete(1024);
            until_usable("samples/main/stop");
        };
        const auto watched = [this](const char* id) {
            return [this, id] { watch_experiments(id); };
        };
        return {{"watched/experiments/completion_0_name",
                 watched("watched/experiments/completion_0_name")},
                {"watched/experiments/recipe_0_name", watched("watched/experiments/recipe_0_name")},
                {"watched/experiments/", watched("watched/experiments/recipe_0_name")},
                {"samples/", broken},
                {"attention/", broken},
                {"keys/", broken},
                {"trace/", broken},
                {"patching/main/file", broken},
                {"samples/main/stop", completing},
                {"samples/main/continue",
                 [this, completing] {
                     completing();
                     ui().actions.run(ui(), "selection.unlock");
                     until_usable("samples/main/continue");
                 }},
                {"relative/main/more_tools", [this] { crowd("relative/main/more_tools"); }},
                {"trace/main/more_tools", [this] { crowd("trace/main/more_tools"); }},
                {"attention/main/more_tools", [this] { crowd("attention/main/more_tools"); }},
                {"keys/main/more_channels", [this] { crowd("keys/main/more_channels"); }},
                {"attention/main/more_channels", [this] { crowd("attention/main/more_channels"); }},
                {"atlas/main/compare=change_since_pin", [this] { pin(); }},
                {"biases/main/compare=change_since_pin", [this] { pin(); }},
                {"focus/main/compare=change_since_pin", [this] { pin(); }},
                {"statistics/main/compare=change_since_pin", [this] { pin(); }},
                {"top_bar/menu/menu", small},
                {"top_bar/menu/", [this] { open_menu("file"); }},
                {"top_bar/menu/", [this] { open_menu("run"); }},
                {"top_bar/menu/", [this] { open_menu("view"); }},
                {"top_bar/menu/", [this] { open_menu("help"); }},
                {"toasts/main/action", [this] { offer_branch(); }},
                {"film/main/cancel", [this] { record_film(); }},
                {"film_card/main/what=generation",
                 [this] { offer_film("film_card/main/what=generation"); }},
                {"film_card/main/most", [this] { offer_film("film_card/main/most"); }},
                {"rail/", small},
                {"play/", [this] {
                     complete(4);
                     pass_frames(30);
                     ui().selection.completion.position = 0;
                 }}};
    }
    static bool is_long() { return !variable("AFTERIMAGE_ALL_TESTS").empty(); }
    void explore(ClickRules rules) {
        const auto wait = [this](const std::string& id) { until_usable(id.c_str()); };
        const auto click = [this](const std::string& id) { click_usable(id); };
        const auto limits = more_nudges([this]() -> Ui& { return ui(); }, wait, click);
        for (const auto& more : {form_nudges(), lab_nudges(), limits})
            rules.nudges.insert(rules.nudges.end(), more.begin(), more.end());
        Clicks clicks(stage_, rules);
        clicks.explore();
        std::cout << "    " << clicks.summary() << std::endl;
        EXPECT_GE(clicks.known(), 100u) << "few controls have been met";
        EXPECT_EQ(fmt::format("{}", fmt::join(clicks.missing(), "\n")), "") << "never done";
        // Luck made their state once: they want a nudge, yet nothing there failed.
        const std::vector<std::string> lost = clicks.lost();
        for (const std::string& id : lost) std::cout << "    lost: " << id << std::endl;
        EXPECT_LE(lost.size(), is_long() ? 0u : 2u) << fmt::format("{}", fmt::join(lost, "\n"));
        if (!HasFailure()) clicks.shake(is_long() ? 4000 : 120);
    }

    fs::path home_, before_;
    std::string run_;
    int runs_ = 0;
};

// The longest first: each runs as a program of its own.
TEST_F(RandomClicks, WhileTrainingRuns) {
    open_run(20);
    ClickRules with = rules();
    with.nudges = nudges();
    with.is_right = [this] { return !is_other_model() && ui().status.state == RunState::running; };
    with.restore = [this] {
        if (is_other_model()) reopen();
        session().run().set("train.steps", "1000000");
        session().run().start();
        (void)until([this] { return ui().status.state == RunState::running; }, kLuck_s);
    };
    with.afresh = [this, resume = with.restore] {
        open_afresh();
        resume();
    };
    explore(with);
}

TEST_F(RandomClicks, WithARunAtRest) {
    open_run(20);
    ClickRules with = rules();
    with.nudges = nudges();
    with.is_right = [this] { return !is_other_model(); };
    with.restore = [this] { reopen(); };
    with.afresh = [this] { open_afresh(); };
    explore(with);
}

TEST_F(RandomClicks, WithNothingOpen) {
    make_stage();
    ClickRules with = rules();
    with.is_right = [this] { return ui().session == nullptr; };
    with.restore = with.afresh = [this] { make_stage(); };
    explore(with);
}

TEST_F(RandomClicks, WithARunThatHasNotBegun) {
    const auto open = [this](const Config& config) {
        open_run(0, config);
        ui().workspace = Workspace::train;
        run("frames 3\n");
    };
    open(tiny_config());
    ClickRules with = rules();
    with.is_right = [this] { return !is_other_model() && ui().status.step == 0; };
    with.restore = with.afresh = [open] { open(tiny_config()); };
    with.nudges = nudges();
    for (auto& nudge : setting_nudges(open)) with.nudges.push_back(std::move(nudge));
    if (!is_long()) with.only = "controls/";  // the rest is as in a run at rest
    with.may_drag = [](const WidgetRecord& w) { return !w.path.id.starts_with("controls/"); };
    explore(with);
}

}  // namespace
}  // namespace aft::app
