// Lab: interventions, what they cost on the pinned batch, completions beside the untouched ones,
// undo, recipes. What the screen says is what the command measures.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/panels/lab/lab_actions.h"
#include "app/panels/lab/lab_words.h"
#include "core/images/image.h"
#include "core/text.h"
#include "model/jobs.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class LabWindow : public BareTest {
  protected:
    void open_run() {
        open_trained_run();
        path_ = folder_.string();
    }
    [[nodiscard]] LabChoice& lab() { return ui().selection.lab; }
    [[nodiscard]] bool has_measured() {
        const LossChange& change = lab().numbers.together;
        return change && change->count == lab().examples;
    }
    [[nodiscard]] bool has_completed() {
        return value_of("result/main/lab_2_0").starts_with("mean");
    }
    std::string path_;
};

TEST_F(LabWindow, TheChangeOfTheLossIsTheOneThatEvalMeasures) {
    open_run();
    lab().examples = 16;
    run("lab.zero_selected\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::lab);
    ASSERT_TRUE(until([&] { return has_measured(); })) << dump(ui());
    lab().file = (scratch_ / "recipe.json").string();
    run("lab.save_recipe\nframes 2\n");
    EvalRequest request;
    request.model = path_;
    request.data = ui().status.config.data.source;
    request.recipe = lab().file;
    request.index = 0;
    request.limit = 16;
    const EvalResult result = eval_job(request, {});
    ASSERT_TRUE(result.change);
    EXPECT_NEAR(lab().numbers.together->mean, result.change->metric.mean, 2e-5);
    EXPECT_NEAR(lab().numbers.together->standard_error, result.change->metric.standard_error, 2e-5);
    EXPECT_NEAR(*lab().numbers.untouched, result.change->untouched_metric, 2e-5);
    EXPECT_NE(value_of("result/main/loss_change").find(change_words(*lab().numbers.together)),
              std::string::npos);
    EXPECT_EQ(value_of("result/main/change_0"), change_words(*lab().numbers.each.at(0)));
    lab().first = 3;
    const std::string command = eval_command(ui(), lab().file);
    EXPECT_TRUE(command.ends_with(" --index 3 --limit 16")) << command;
    EXPECT_EQ(ui().actions.why_not(ui(), "lab.copy_command"), "");
    EXPECT_NE(command.find("/step-00000060.safetensors "), std::string::npos) << command;
}

// Own steps that nobody has saved, and a step between two saved ones.
TEST_F(LabWindow, TheMeasureFollowsTheWeightsAndNamesTheNearestSavedStep) {
    open_run();
    lab().examples = 4;
    run("lab.zero_selected\nframes 3\n");
    ASSERT_TRUE(until([&] { return has_measured(); })) << dump(ui());
    const auto step = [&] { return value_of("inspector/pinned_batch/step"); };
    EXPECT_EQ(step(), "60");
    run("run.step\nframes 3\n");
    ASSERT_TRUE(until([&] { return step() == "61" && has_measured(); })) << step();
    const std::vector<int64_t> saved = session().saved_steps();
    ASSERT_GE(saved.size(), 2U);
    const int64_t last = saved.back(), before = saved.at(saved.size() - 2);
    for (const int64_t shown : {last - 1, before + 1}) {
        ui().commands.send(ShowStep{shown});
        const std::string near = std::to_string(shown == last - 1 ? last : before);
        ASSERT_TRUE(until([&] { return step() == near && has_measured(); })) << step();
        const std::string words = value_of("inspector/pinned_batch/measured_step");
        EXPECT_NE(words.find("of step " + near + ","), std::string::npos) << words;
        EXPECT_EQ(why_no_eval_command(ui()), "");
        const std::string command = eval_command(ui(), "recipe.json");
        EXPECT_NE(command.find("step-000000" + near), std::string::npos) << command;
    }
}

TEST_F(LabWindow, SavingARecipeWritesOverNoOther) {
    open_run();
    run("lab.zero_selected\nframes 3\n");
    const std::string first = (scratch_ / "r.json").string();
    lab().file = first;
    run("lab.save_recipe\nframes 2\n");
    EXPECT_EQ(lab().file, first);
    run("lab.save_recipe\nframes 2\n");
    EXPECT_EQ(lab().file, first) << "it holds this recipe";
    const Recipe recipe = lab().recipe;
    lab().recipe.interventions.front().strength = 0.5;
    run("lab.copy_command\nframes 2\n");
    EXPECT_EQ(lab().file, (scratch_ / "r-2.json").string());
    EXPECT_NE(std::string(ImGui::GetClipboardText()).find("r-2.json"), std::string::npos);
    EXPECT_EQ(read_recipe(first), recipe);
    lab().recipe.interventions.front().strength = 0.25;
    run("lab.save_recipe\nframes 2\n");
    EXPECT_EQ(lab().file, (scratch_ / "r-3.json").string());
}

TEST_F(LabWindow, NoExampleOfASmallPartCountsTwice) {
    initialize_model("cpu", 1);
    make();
    const fs::path pictures = scratch_ / "pictures";
    fs::create_directories(pictures);
    for (int i = 0; i < 40; ++i)
        write_png(pictures / (std::to_string(i) + ".png"),
                  Image{8, 8, 1, std::vector<uint8_t>(64, uint8_t(6 * i))});
    OpenRequest request;
    request.config = tiny_config();
    request.config->data.source = "images:" + pictures.string();
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\n");
    session().run().step(1);
    run("wait Paused\n");
    lab().examples = 64;
    run("lab.zero_selected\nframes 3\n");
    ASSERT_TRUE(until([&] { return has_measured(); })) << dump(ui());
    const auto item = ui().session->items().example(lab().split, lab().first);
    ASSERT_NE(item, nullptr);
    EXPECT_GT(item->part_size, 1);
    EXPECT_EQ(lab().examples, item->part_size);
    EXPECT_LT(lab().examples, 40);
}

TEST_F(LabWindow, WhatIsOffCostsNothingAndUndoBringsItBack) {
    open_run();
    lab().examples = 8;
    run("lab.zero_selected\nframes 3\n");
    ASSERT_TRUE(until([&] { return has_measured(); }));
    run("click interventions/main/on_0\nframes 3\n");
    EXPECT_TRUE(lab().active().is_untouched());
    EXPECT_NE(value_of("result/main/loss_change").find("0.000"), std::string::npos);
    run("key Ctrl+Z\nframes 3\n");
    EXPECT_TRUE(lab().recipe.interventions.at(0).on);
    run("key Ctrl+Z\nframes 3\n");
    EXPECT_TRUE(lab().recipe.interventions.empty());
    EXPECT_TRUE(is_there("lab.add"));
    run("key Ctrl+Y\nkey Ctrl+Y\nframes 3\n");
    ASSERT_EQ(lab().recipe.interventions.size(), 1u);
    EXPECT_FALSE(lab().recipe.interventions[0].on);
}

TEST_F(LabWindow, StrengthOrderAndRemoval) {
    open_run();
    lab().examples = 8;
    run("lab.zero_selected\nlab.off_selected\nframes 3\n");
    ASSERT_EQ(lab().recipe.interventions.size(), 2u);
    run("set interventions/main/strength_1 50\nframes 3\n");
    EXPECT_NEAR(lab().recipe.interventions[1].strength, 0.5, 1e-9);
    run("lab.earlier\nframes 2\n");
    EXPECT_EQ(lab().recipe.interventions[0].name, "off");
    EXPECT_EQ(lab().chosen, 0u);
    run("lab.remove\nframes 2\n");
    ASSERT_EQ(lab().recipe.interventions.size(), 1u);
    EXPECT_EQ(lab().recipe.interventions[0].name, "zero");
    run("lab.clear\nframes 2\n");
    EXPECT_TRUE(lab().recipe.interventions.empty());
}

TEST_F(LabWindow, CompletionsStandBesideTheUntouchedOnes) {
    open_run();
    lab().examples = 8;
    run("lab.zero_selected\nframes 3\n");
    ASSERT_TRUE(until([&] { return has_completed(); })) << dump(ui());
    lab().recipe.interventions[0].strength = 0;
    ASSERT_TRUE(until([&] { return value_of("result/main/lab_2_0") == "mean 0.000 levels"; }))
        << "the same random numbers: " << value_of("result/main/lab_2_0");
}

TEST_F(LabWindow, ARecipeForAnotherModelIsRefusedInWords) {
    open_run();
    lab().examples = 8;
    const std::string file = (scratch_ / "other.json").string();
    std::ofstream(file) << R"({"afterimage_recipe": 1, "interventions": [
        {"name": "zero", "layer": 99}]})";
    lab().file = file;
    run("lab.open_recipe\nframes 3\n");
    ASSERT_TRUE(until([&] { return !lab().problem.empty(); }));
    EXPECT_NE(lab().problem.find("layer 99 is not in this model: 0 to 1"), std::string::npos)
        << lab().problem;
    run("lab.clear\nlab.zero_selected\nframes 3\n");
    ASSERT_TRUE(until([&] { return has_measured(); })) << lab().problem;
    lab().file = (scratch_ / "none.json").string();
    run("lab.open_recipe\nframes 2\n");
    EXPECT_EQ(lab().recipe.interventions.size(), 1u) << "a file that is not there changes nothing";
}

TEST_F(LabWindow, WhatDoesNotFitIsNamedAndTakenOutOrRepaired) {
    open_run();
    lab().examples = 8;
    const std::string file = (scratch_ / "other.json").string();
    std::ofstream(file) << R"({"afterimage_recipe": 1, "interventions": [
        {"name": "zero", "layer": 17}, {"name": "zero", "layer": 0}]})";
    ui().commands.send(OpenPath{file});  // as the file browser does
    run("frames 6\n");
    EXPECT_EQ(ui().workspace, Workspace::lab);
    ASSERT_EQ(lab().recipe.interventions.size(), 2u);
    EXPECT_EQ(lab().chosen, 0u);
    EXPECT_TRUE(is_there("result/main/lab.remove_unfit")) << dump(ui());
    EXPECT_FALSE(is_there("interventions/maps/map_before")) << "of the last layer";
    EXPECT_FALSE(is_there("inspector/loss_over_strength/strength_plot"));
    run("lab.fit_layers\nframes 3\n");
    EXPECT_EQ(lab().recipe.interventions[0].layer, 1);
    EXPECT_FALSE(is_there("result/main/lab.remove_unfit"));
    EXPECT_NE(ui().actions.why_not(ui(), "lab.fit_layers"), "");
    ASSERT_TRUE(until([&] { return has_measured(); })) << lab().problem;
    ASSERT_TRUE(until([&] { return is_there("inspector/loss_over_strength/strength_plot"); }));
    run("lab.undo\nlab.remove_unfit\nframes 3\n");
    ASSERT_EQ(lab().recipe.interventions.size(), 1u);
    EXPECT_EQ(lab().recipe.interventions[0].layer, 0);
    EXPECT_EQ(ui().actions.why_not(ui(), "lab.browse_recipe"), "");
}

TEST_F(LabWindow, TheMapsShowTheBiasBeforeAndAfter) {
    open_run();
    lab().examples = 8;
    run("lab.zero_selected\nframes 3\n");
    const auto has_map = [&](const char* name) {
        const std::string value = value_of(name);
        return value.find("norm") != std::string::npos;
    };
    ASSERT_TRUE(until([&] {
        return has_map("interventions/maps/map_before") && has_map("interventions/maps/map_after");
    })) << dump(ui());
    ASSERT_TRUE(until([&] { return value_of("interventions/maps/map_after").ends_with("norm 0"); }))
        << value_of("interventions/maps/map_after");
    EXPECT_FALSE(value_of("interventions/maps/map_before").ends_with("norm 0"));
}

TEST_F(LabWindow, PatchingShowsWhatTheProbeWrites) {
    open_run();
    run("view.workspace_lab\nframes 6\nclick patching/main/tab\nframes 3\n");
    ASSERT_TRUE(until([&] {
        const WidgetRecord* const patch = ui().recorder.find("patching/main/patch");
        return patch != nullptr && patch->why_not.empty();
    })) << dump(ui());
    run("click patching/main/patch\nframes 3\n");
    ProbeJob job;
    job.probe = "patching";
    job.model = path_;
    job.data = ui().status.config.data.source + "&split=" + ui().selection.image.split;
    if (job.data.find('?') == std::string::npos) job.data.replace(job.data.find('&'), 1, "?");
    job.other = 1;
    job.out = (scratch_ / "patching.npy").string();
    const ProbeResult result = probe_job(job, {});
    const std::string size = fmt::format("{}x{}", result.shape.at(0), result.shape.at(1));
    EXPECT_TRUE(until([&] { return value_of("patching/main/patching_map") == size; }))
        << value_of("patching/main/patching_map") << " " << size;
}

TEST_F(LabWindow, ModelsWithoutALossSayWhy) {
    make();
    run("view.workspace_lab\nframes 3\n");
    EXPECT_TRUE(is_there("file.open"));
    EXPECT_EQ(ui().actions.why_not(ui(), "lab.add"), "No model is open.");
}

// Numbers that stand for something are said in words, and typed in them; a run is taken from the
// list of those that are known, or from the disk.
TEST_F(LabWindow, CopySaysInWordsWhatItTakesAndOffersRuns) {
    open_run();
    ui().workspace = Workspace::lab;
    add_intervention(ui(), "copy");
    steps(4);
    const std::string place = "inspector/intervention/";
    EXPECT_EQ(value_of(place + "from_layer"), "the same");
    EXPECT_EQ(value_of(place + "from_step"), "the newest");
    const auto option = [&](const char* key) {
        return lab().recipe.interventions.at(0).options[key];
    };
    run("set " + place + "from_layer 1\nframes 3\n");
    EXPECT_EQ(option("from_layer"), "1");
    run("set " + place + "from_layer -1\nframes 3\n");
    EXPECT_EQ(option("from_layer"), "-1");
    EXPECT_EQ(value_of(place + "from_layer"), "the same");
    const std::string words = place_words(ui(), lab().recipe.interventions[0]);
    EXPECT_NE(words.find("from layer the same"), std::string::npos) << words;
    EXPECT_NE(recipe_line(lab().recipe.interventions[0]).find("from_layer=the same"),
              std::string::npos);
    RecentItem known;
    known.path = path_;
    ui().settings.recent.push_back(known);
    run("click " + place + "from_runs\nframes 5\n");
    const auto row = [&] {
        for (const WidgetRecord& widget : ui().recorder.last())
            if (widget.kind == "row" && widget.path.label.find(path_) != std::string::npos)
                return widget.path.id;
        return std::string();
    };
    ASSERT_TRUE(until([&] { return !row().empty(); })) << dump(ui());
    run("click " + row() + "\nframes 3\n");
    EXPECT_EQ(option("from"), path_);
    run("click " + place + "choose_from\nframes 3\n");
    EXPECT_TRUE(is_there("file_browser/answer/accept")) << dump(ui());
    ui().file_chosen = "/some/other/run";
    steps(3);
    EXPECT_EQ(option("from"), "/some/other/run");
    EXPECT_EQ(ui().file_chosen, "");
}

}  // namespace
}  // namespace aft::app
