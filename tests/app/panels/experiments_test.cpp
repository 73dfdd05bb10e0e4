// Standing experiments: the curve of a recipe is what eval measures at each step, the strip is what
// completing there gives; they stay with their run.
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/panels/lab/lab_words.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/train/completion_series.h"
#include "app/panels/train/recipe_series.h"
#include "app/state/user_settings_text.h"
#include "app/state/view_file.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/checkpoints/run_paths.h"
#include "tests/app/panels/text_run.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

// Nats of every example as the window has them: means over the tokens in float32.
std::vector<double> evaluated(const EvalRequest& asked, const std::string& csv) {
    EvalRequest request = asked;
    request.examples_file = csv;
    (void)eval_job(request, {});
    std::ifstream in(csv);
    std::string line;
    std::getline(in, line);  // names
    std::vector<double> nats;
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = split(line, ',');
        nats.push_back(float(std::stod(cells.at(1)) / std::stod(cells.at(2))));
    }
    return nats;
}

class ExperimentsWindow : public BareTest {
  protected:
    // A trained run whose first bias is taken away over training.
    void watch_recipe(int64_t examples = 16) {
        open_trained_run();
        ui().selection.lab.examples = examples;
        run("lab.zero_selected\nframes 3\nlab.watch\nframes 2\n");
        ASSERT_EQ(ui().experiments.recipes.size(), 1u);
    }
    void show_watched() {
        run("view.workspace_train\nframes 4\nclick watched/main/tab\nframes 4\n");
    }
    [[nodiscard]] std::string value(const std::string& id) {
        return value_of("watched/experiments/" + id);
    }
    [[nodiscard]] std::vector<int64_t> saved() { return ui().session->saved_steps(); }
    // The whole curve, by itself.
    std::map<int64_t, RecipePoint> points_of(const WatchedRecipe& watched) {
        RecipeSeries series;
        EXPECT_TRUE(until([&] { return series.update(ui(), watched, true); }));
        EXPECT_EQ(series.missing(), 0u);
        return series.points();
    }
    // Chooses a picture, a mask and how to sample, and watches that.
    void watch_completion() {
        run("view.workspace_complete\nframes 4\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
        SampleOptions& sample = ui().selection.completion.sample;
        sample.seed = 7;
        sample.temperature = 0.75;
        run("mask.right_half\nframes 2\ncomplete.watch\nframes 2\n");
        ASSERT_EQ(ui().experiments.completions.size(), 1u);
    }
    [[nodiscard]] bool has_strip() {
        bool has_all = true;
        for (const int64_t step : saved())
            has_all &= !value(fmt::format("completion_0_step_{}", step)).empty();
        return has_all;
    }
    // What still comes moves what stands below it.
    void rest(const char* id) {
        float place = -1;
        int still = 0;
        EXPECT_TRUE(until([&] {
            const WidgetRecord* widget = ui().recorder.find(id);
            const float now = widget == nullptr ? -1 : widget->min.y;
            still = now == place ? still + 1 : 0;
            place = now;
            return widget != nullptr && still >= 30;
        })) << id;
    }
    std::string settings_file() { return (scratch_ / "window.json").string(); }
};

TEST_F(ExperimentsWindow, TheCurveIsWhatEvalMeasuresAtEachStep) {
    watch_recipe();
    const WatchedRecipe watched = ui().experiments.recipes.front();
    EXPECT_EQ(watched.name, "Zero, layer 0");
    EXPECT_EQ(watched.examples, 16);
    const std::string recipe = (scratch_ / "recipe.json").string();
    write_recipe(recipe, watched.recipe, "");
    const std::map<int64_t, RecipePoint> points = points_of(watched);
    ASSERT_EQ(points.size(), saved().size());
    ASSERT_GT(points.size(), 2u);
    for (const auto& [step, point] : points) {
        EvalRequest request;
        request.model = checkpoint_path(folder_, step).string();
        request.data = ui().status.config.data.source;
        request.index = 0;
        request.limit = request.batch = 16;
        const auto before = evaluated(request, (scratch_ / "before.csv").string());
        request.recipe = recipe;
        const auto after = evaluated(request, (scratch_ / "after.csv").string());
        ASSERT_EQ(after.size(), 16u);
        const PairedChange change = paired_change(before, after);
        EXPECT_EQ(point.error, "");
        EXPECT_EQ(point.change.mean, change.mean) << step;
        EXPECT_EQ(point.change.standard_error, change.standard_error) << step;
        EXPECT_EQ(point.change.count, 16);
    }
    show_watched();
    const double last = shown_loss(ui(), points.rbegin()->second.change.mean);
    const std::string words = fmt::format("{} points, last {}", points.size(), exact_number(last));
    EXPECT_TRUE(until([&] { return value("recipe_0_cost") == words; }))
        << value("recipe_0_cost") << " is not " << words;
    EXPECT_NE(std::abs(last), 0);
}

TEST_F(ExperimentsWindow, TheStripIsTheCompletionAskedForAtThatStep) {
    open_trained_run();
    watch_completion();
    show_watched();
    ASSERT_TRUE(until([&] { return has_strip(); })) << dump(ui());
    CompletionSeries series;
    const WatchedCompletion watched = ui().experiments.completions.front();
    ASSERT_TRUE(until([&] { return series.update(ui(), watched, true); }));
    ASSERT_EQ(series.completions().size(), saved().size());
    run("view.workspace_complete\nframes 3\n");
    ui().selection.completion.sample.samples = 1;
    for (const auto& [step, completion] : series.completions()) {
        EXPECT_EQ(completion->step, step);
        ui().commands.send(ShowStep{step});
        run("frames 2\ncomplete.start\nframes 2\n");
        ASSERT_TRUE(until([&] {
            const auto& own = ui().selection.completion.own;
            return own && own->id == ui().selection.completion.own_id && own->done;
        }));
        const Completion& asked = *ui().selection.completion.own;
        ASSERT_EQ(asked.error, "");
        EXPECT_EQ(asked.step, step);
        EXPECT_EQ(asked.samples, completion->samples) << step;
        EXPECT_EQ(asked.log_likelihood, completion->log_likelihood) << step;
    }
    const auto& tokens = series.completions().rbegin()->second->samples;
    EXPECT_NE(series.completions().begin()->second->samples, tokens) << "training changed nothing";
}

// Whatever else is asked for meanwhile is not thrown out.
TEST_F(ExperimentsWindow, TheStripWaitsForCompletionsOfOthers) {
    open_trained_run();
    watch_completion();
    show_watched();
    ASSERT_TRUE(until([&] { return ui().watched_completion > 0; }));
    ui().selection.completion.sample.samples = 64;
    ui().actions.run(ui(), "complete.start");
    ui().commands.send(ShowWorkspace{Workspace::train});
    const auto& own = ui().selection.completion.own;
    ASSERT_TRUE(until([&] { return has_strip() && own && own->done; })) << dump(ui());
    EXPECT_EQ(own->id, ui().selection.completion.own_id);
    EXPECT_TRUE(!own->stopped && own->error.empty());
}

TEST_F(ExperimentsWindow, StepsWithoutWeightsAreNotMeasured) {
    watch_recipe(8);
    show_watched();
    ASSERT_LT(saved().size(), ui().history.size());
    EXPECT_TRUE(until([&] {
        return value("recipe_0_cost").starts_with(fmt::format("{} points", saved().size()));
    })) << value("recipe_0_cost");
    EXPECT_EQ(value("saved_steps"), fmt::format("{} of {}", saved().size(), ui().history.size()));
}

TEST_F(ExperimentsWindow, ARecipeThatAStepCannotCarrySaysSo) {
    watch_recipe(8);
    ui().experiments.recipes.front().recipe.interventions.front().layer = 99;
    show_watched();
    EXPECT_TRUE(until([&] {
        return value("recipe_0_problem").find("layer 99 is not in this model: 0 to 1") !=
               std::string::npos;
    })) << dump(ui());
    EXPECT_EQ(value("recipe_0_cost"), "");
    ui().experiments.recipes.front().recipe.interventions.front().name = "melt";
    EXPECT_TRUE(until([&] { return value("recipe_0_problem").find("melt") != std::string::npos; }))
        << value("recipe_0_problem");
}

TEST_F(ExperimentsWindow, IsNamedRefusedTwiceAndRemoved) {
    watch_recipe(8);
    EXPECT_NE(ui().actions.why_not(ui(), "lab.watch").find("watched already"), std::string::npos);
    ui().selection.lab.recipe.interventions.front().strength = 0.5;
    EXPECT_EQ(ui().actions.why_not(ui(), "lab.watch"), "");
    ui().selection.lab.recipe.interventions.front().on = false;
    EXPECT_NE(ui().actions.why_not(ui(), "lab.watch"), "");
    watch_completion();
    EXPECT_NE(ui().actions.why_not(ui(), "complete.watch"), "");
    show_watched();
    run("set watched/experiments/recipe_0_name mine\nframes 3\n");
    EXPECT_EQ(ui().experiments.recipes.front().name, "mine");
    ASSERT_TRUE(until([&] { return has_strip() && !value("recipe_0_cost").empty(); }));
    rest("watched/experiments/recipe_0_remove");
    run("click watched/experiments/recipe_0_remove\nframes 3\n");
    EXPECT_TRUE(ui().experiments.recipes.empty());
    EXPECT_EQ(value("recipe_0_cost"), "");
    EXPECT_TRUE(has_strip());
    rest("watched/experiments/completion_0_remove");
    run("click watched/experiments/completion_0_remove\nframes 3\n");
    EXPECT_TRUE(ui().experiments.is_empty());
    EXPECT_FALSE(is_there("watched/experiments/completion_0_name"));
    EXPECT_EQ(ui().actions.why_not(ui(), "complete.watch"), "");
}

TEST_F(ExperimentsWindow, ComesBackWithItsRunAtTheNextStart) {
    FrameOptions options;
    options.settings_file = settings_file();
    make(options);
    open_tiny_run(20);
    run("run.start\nwait Stopped\nframes 5\nlab.zero_selected\nlab.watch\nframes 2\n");
    watch_completion();
    const Experiments before = ui().experiments;
    const std::string path = folder_.string(), view = (scratch_ / "view.json").string();
    write_view_file(view, view_of(ui()));
    EXPECT_EQ(read_view_file(view).place.experiments, before);
    stage_->frame().save_settings();
    make(options);
    EXPECT_TRUE(ui().experiments.is_empty());
    stage_->frame().open(path);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_EQ(ui().experiments, before);
    show_watched();
    EXPECT_TRUE(until([&] { return has_strip() && !value("recipe_0_cost").empty(); }))
        << dump(ui());
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    ASSERT_TRUE(until([&] { return ui().has_model() && ui().status.path != path; }));
    steps(2);
    EXPECT_TRUE(ui().experiments.is_empty()) << "they are of the other run";
}

// A step that comes a second time after a rewind has other weights.
TEST_F(ExperimentsWindow, ARewindMeasuresAnew) {
    watch_recipe(8);
    watch_completion();
    show_watched();
    const auto is_whole = [&] {
        return has_strip() &&
               value("recipe_0_cost").starts_with(fmt::format("{} points", saved().size()));
    };
    ASSERT_TRUE(until(is_whole)) << dump(ui());
    const std::string cost = value("recipe_0_cost"), strip = value("completion_0_step_60");
    run("view.workspace_home\nframes 3\n");
    session().run().rewind(20);
    ASSERT_TRUE(until([&] { return ui().status.rewinds > 0 && ui().status.step == 20; }));
    session().run().set("train.learning_rate", "0.03");
    run("run.start\n");
    ASSERT_TRUE(
        until([&] { return ui().status.step == 60 && ui().status.state == RunState::stopped; }));
    ASSERT_TRUE(until([&] { return saved().back() == 60; }));
    show_watched();
    ASSERT_TRUE(until(is_whole)) << dump(ui());
    EXPECT_NE(value("recipe_0_cost"), cost);
    EXPECT_NE(value("completion_0_step_60"), strip);
}

TEST_F(ExperimentsWindow, TextsShowTheirFirstLine) {
    initialize_model("cpu", 1);
    make();
    ui().commands.send(OpenRun{text_run(scratch_.path(), 20)});
    run("frames 2\nwait Ready\nrun.start\nwait Stopped\nframes 3\n");
    ui().selection.completion.prompt = "Line";
    ui().selection.completion.length = 12;
    run("complete.watch\nframes 2\n");
    ASSERT_EQ(ui().experiments.completions.size(), 1u);
    show_watched();
    CompletionSeries series;
    const WatchedCompletion watched = ui().experiments.completions.front();
    ASSERT_TRUE(until([&] { return series.update(ui(), watched, true); }));
    const Completion& last = *series.completions().at(20);
    std::string line = shown_text(ui(), last.samples.front(), 4, 16);
    line.erase(0, std::min(line.find_first_not_of("\n "), line.size()));
    line = line.substr(0, line.find('\n'));
    EXPECT_TRUE(until([&] { return is_there("watched/experiments/completion_0_step_20"); }));
    EXPECT_EQ(value("completion_0_step_20"), line);
}

TEST(Experiments, GoThroughTheSettingsAndBack) {
    WatchedCompletion completion{.name = "corner", .split = "validation", .index = 3};
    completion.height = 4;
    completion.width = 3;
    completion.mask = {1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1};
    completion.temperature = 0.5;
    completion.seed = 99;
    WatchedRecipe recipe{.name = "head 1", .split = "test", .first = 7, .examples = 12};
    recipe.recipe.interventions = {
        {.name = "blur", .layer = 1, .strength = 0.25, .options = {{"sigma", "2"}}}};
    UserSettings settings;
    RunNotes& notes = settings.notes["/runs/one"];
    notes.experiments.recipes = {recipe};
    notes.experiments.completions = {completion, {.name = "t", .prompt = "A\nb", .length = 9}};
    const UserSettings back = parse_user_settings(user_settings_text(settings));
    EXPECT_EQ(back.notes.at("/runs/one"), notes);
}

TEST(Experiments, WhatIsNotAllowedIsNamed) {
    const auto problem = [](const char* text) {
        return error_words([&] { (void)experiments_from_json(nlohmann::json::parse(text)); });
    };
    EXPECT_EQ(problem("{}"), "");
    EXPECT_NE(problem(R"({"recipes": [{"recipe": {"afterimage_recipe": 1,
                         "interventions": [{"name": 4}]}}]})")
                  .find("experiments.recipes[0]: "),
              std::string::npos);
    for (const char* const mask : {"3 9 1", "12x", "-1", "5", "99999999999999999999", "6  6"})
        EXPECT_NE(problem(fmt::format(R"({{"completions": [{{"height": 4, "width": 3,
                                          "mask": "{}"}}]}})",
                                      mask)
                              .c_str())
                      .find(fmt::format("experiments.completions[0]: mask: found '{}', allowed: "
                                        "run lengths of 0 and 1 in turn that sum to 4 x 3",
                                        mask)),
                  std::string::npos)
            << mask;
    const Experiments clamped = experiments_from_json(nlohmann::json::parse(
        R"({"completions": [{"prompt": "a", "length": 1e300, "temperature": -4, "seed": -1}]})"));
    EXPECT_EQ(clamped.completions.front().length, 100000);
    EXPECT_EQ(clamped.completions.front().temperature, 0);
    EXPECT_EQ(clamped.completions.front().seed, 0u);
}

TEST(Experiments, OneThatCannotBeReadTakesNothingElseWithIt) {
    const Scratch scratch;
    const fs::path file = scratch / "window.json";
    UserSettings settings;
    settings.remember({.path = "runs/a", .name = "a", .what = "a run"});
    settings.keys["view.workspace_biases"] = "Ctrl+K";
    RunNotes& notes = settings.notes["runs/a"];
    notes.name = "mine";
    notes.experiments.recipes.push_back({.name = "whole"});
    std::string text = user_settings_text(settings);
    const std::string whole = "\"recipes\": [";
    const size_t at = text.find(whole);
    ASSERT_NE(at, std::string::npos) << text;
    text.insert(at + whole.size(),
                R"({"recipe": {"interventions": [{"name": "of the future"}]}}, 4,)");
    write_atomically(file, text);
    std::string problem;
    const UserSettings back = load_user_settings(file, problem);
    EXPECT_NE(problem.find("2 of the window's settings"), std::string::npos) << problem;
    EXPECT_EQ(back.keys, settings.keys);
    EXPECT_EQ(back.recent.size(), 1U);
    EXPECT_EQ(back.notes.at("runs/a").name, "mine");
    ASSERT_EQ(back.notes.at("runs/a").experiments.recipes.size(), 1U);
    EXPECT_EQ(back.notes.at("runs/a").experiments.recipes.front().name, "whole");
    EXPECT_TRUE(fs::exists(file)) << "it is not put aside";
}

TEST(Experiments, OfAViewComeBesideThoseThatAreThere) {
    Experiments own, more;
    own.recipes.push_back({.name = "own", .examples = 32});
    more.recipes.push_back({.name = "the same", .examples = 32});
    more.recipes.push_back({.name = "another", .examples = 16});
    add_missing(own, {});
    EXPECT_EQ(own.recipes.size(), 1U);
    add_missing(own, more);
    ASSERT_EQ(own.recipes.size(), 2U);
    EXPECT_EQ(own.recipes.back().name, "another");
}

}  // namespace
}  // namespace aft::app
