// Beside the curves: live completions and biases; what has changed since a pin; the form of a new
// run, which says at once what is wrong.
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

using TrainTabs = BareTest;

TEST_F(TrainTabs, CompletionsFillInAndLeaveCompleteAlone) {
    make();
    open_tiny_run();
    EXPECT_EQ(ui().session->completions().latest(), nullptr)
        << "nothing is asked for behind the curves";
    run("click completions/main/tab\n");
    ASSERT_TRUE(until([&] { return is_there("completions/main/step_0"); }));
    ASSERT_TRUE(until([&] { return value_of("completions/main/step_0").ends_with("bits/dim"); }))
        << value_of("completions/main/step_0");
    EXPECT_EQ(ui().session->completions().latest()->samples.size(), 6u);
    EXPECT_EQ(ui().selection.completion.own, nullptr) << "it is not the one of Complete";
    const uint64_t first = ui().session->completions().latest()->id;
    steps(50);
    EXPECT_EQ(ui().session->completions().latest()->id, first)
        << "the same step is not completed twice";
    run("run.step_many\nwait Paused\n");
    ASSERT_TRUE(until([&] { return is_there("completions/main/step_100"); }));
    run("view.workspace_complete\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("complete.start\n");
    ASSERT_TRUE(until([&] {
        const auto own = ui().selection.completion.own;
        return own != nullptr && own->done;
    }));
    EXPECT_GT(ui().selection.completion.own->id, first);
}

// With time to spare the rows below show earlier saved steps, the newest of them first.
TEST_F(TrainTabs, CompletionsOfEarlierSavedStepsStandBelow) {
    make();
    OpenRequest request;
    request.config = tiny_config();
    request.config->train.steps = 30;
    request.config->train.checkpoint_every = 10;
    request.config->train.keep_checkpoints = 0;
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{request});
    run("frames 2\nwait Ready\nrun.start\nwait Stopped\nclick completions/main/tab\n");
    for (const char* const row : {"step_30", "step_20", "step_10"})
        EXPECT_TRUE(until([&] {
            return value_of(std::string("completions/main/") + row).ends_with("bits/dim");
        })) << row
            << "\n"
            << dump(ui());
}

TEST_F(TrainTabs, TheAtlasStandsBesideTheCurves) {
    make();
    open_tiny_run();
    run("click biases/main/tab\n");
    EXPECT_TRUE(until([&] { return value_of("biases/main/layer_0") == "drawn"; }));
}

TEST_F(TrainTabs, ChangeSinceThePinIsDrawnRoundZero) {
    make();
    open_tiny_run();
    run("run.start\nwait Stopped\nview.workspace_biases\nframes 3\n");
    EXPECT_EQ(ui().actions.why_not(ui(), "map.difference_to_pin"), "Nothing is pinned. P pins.");
    run("time.first\nframes 2\nkey P\nkey End\nkey D\nview.atlas_or_focus\nframes 3\n");
    ASSERT_TRUE(until([&] { return value_of("focus/main/map").ends_with("change"); }))
        << value_of("focus/main/map");
    EXPECT_EQ(value_of("focus/main/compare=change_since_pin"), "on");
    const WidgetRecord* norm = ui().recorder.find("inspector/statistics/norm");
    ASSERT_NE(norm, nullptr);
    EXPECT_TRUE(norm->path.label.ends_with("/Change/Frobenius norm, visible pairs"));
    EXPECT_GT(std::stod(norm->value), 0) << "60 steps have changed the biases";
    run("key D\nframes 5\n");
    EXPECT_FALSE(value_of("focus/main/map").ends_with("change"));
}

// The panes keep pictures of the model before: none of it may be taken for the new one.
TEST_F(TrainTabs, AnotherModelCanBeOpenedWhileItsMapsAreShown) {
    const std::filesystem::path demos = source_file("assets/demo");
    initialize_model("cpu", 1);
    make();
    for (const char* const pane : {"atlas", "focus", "keys"})
        for (const char* const model : {"mirror", "shapes"}) {
            run("open " + (demos / model).string() + ".safetensors\nframes 2\nwait Ready\n");
            ui().workspace = pane[0] == 'k' ? Workspace::attention : Workspace::biases;
            run(std::string("frames 3\nclick ") + pane + "/main/tab\nframes 20\n");
        }
    for (const LogLine& line : ui().log)
        EXPECT_EQ(line.text.find(" stopped: "), std::string::npos) << line.text;
}

TEST_F(TrainTabs, AfterNanTheFirstButtonRewindsToTheSavedStep) {
    make();
    open_tiny_run();
    session().run().step(20);
    ASSERT_TRUE(until([&] { return ui().status.saved_step == 20; }));
    session().run().set("train.clip", "0");
    session().run().set("train.learning_rate", "10");
    session().run().set("train.weight_decay", "10");  // weights times -99 at every step
    session().run().start();
    ASSERT_TRUE(until([&] { return !ui().status.error.empty(); }));
    steps(2);
    EXPECT_EQ(value_of("run/run/primary"), "Rewind to 20");
    EXPECT_NE(ui().actions.why_not(ui(), "run.step"), "");
    EXPECT_EQ(ui().actions.why_not(ui(), "run.retry_step"), "");
    const std::string banner = value_of("curves/main/banner");
    EXPECT_NE(banner.find("learning rate 10"), std::string::npos) << banner;
    EXPECT_NE(banner.find("Step 20 is saved and safe."), std::string::npos) << banner;
    run("click run/run/primary\n");
    ASSERT_TRUE(
        until([&] { return ui().status.state == RunState::paused && ui().status.step == 20; }));
    EXPECT_EQ(ui().status.error, "");
    EXPECT_LT(ui().status.config.train.learning_rate, 10) << "that of the saved step";
    EXPECT_EQ(ui().actions.why_not(ui(), "run.step"), "");
}

// As on a full disk: nothing is lost, and the same button resumes.
TEST_F(TrainTabs, AfterWhatCannotBeWrittenTheFirstButtonResumes) {
    make();
    open_tiny_run();
    session().run().step(2);
    ASSERT_TRUE(
        until([&] { return ui().status.state == RunState::paused && ui().status.step == 2; }));
    const fs::path log = fs::path(ui().status.path) / "metrics.jsonl", aside = scratch_ / "aside";
    fs::rename(log, aside);
    fs::create_directory(log);
    run("run.step\n");
    ASSERT_TRUE(until([&] { return !ui().status.error.empty(); }));
    steps(2);
    EXPECT_EQ(value_of("run/run/primary"), "Resume");
    EXPECT_EQ(ui().actions.why_not(ui(), "run.step"), "");
    EXPECT_EQ(ui().actions.why_not(ui(), "run.save"), "");
    const std::string banner = value_of("curves/main/banner");
    EXPECT_NE(banner.find("metrics.jsonl"), std::string::npos) << banner;
    EXPECT_NE(banner.find("up to step 3 is in memory only"), std::string::npos) << banner;
    fs::remove(log);
    fs::rename(aside, log);
    run("run.step\n");
    ASSERT_TRUE(
        until([&] { return ui().status.state == RunState::paused && ui().status.step == 4; }));
    EXPECT_EQ(ui().status.error, "");
}

TEST_F(TrainTabs, ANewRunSaysAtOnceWhatIsWrong) {
    initialize_model("cpu", 1);
    make();
    run("file.new_run\nframes 3\n");
    const auto start = [&] { return ui().recorder.find("home/before_the_start/start_run"); };
    const auto is_estimated = [&] {
        return value_of("home/estimate/memory").starts_with("about ");
    };
    ASSERT_TRUE(until(is_estimated));
    EXPECT_EQ(start()->why_not, "");
    run("set home/new_run/data mirrors?size=16\n");
    ASSERT_TRUE(until([&] { return is_there("home/new_run/data_problem"); }));
    EXPECT_NE(value_of("home/new_run/data_problem").find("mirrors"), std::string::npos);
    EXPECT_NE(start()->why_not.find("mirrors"), std::string::npos) << start()->why_not;
    run("set home/new_run/data cifar10:/no/such/folder?size=16\n");
    ASSERT_TRUE(until([&] {
        return value_of("home/new_run/data_problem").find("/no/such/folder") != std::string::npos;
    }));
    run("set home/new_run/data mirror?size=8&levels=4\n");
    ASSERT_TRUE(until([&] { return !is_there("home/new_run/data_problem"); }));
    ASSERT_TRUE(until(is_estimated));
    EXPECT_EQ(start()->why_not, "");
}

}  // namespace
}  // namespace aft::app
