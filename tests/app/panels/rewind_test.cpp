// Going back to a saved step by hand: the button with its list, the action for the shown step, the
// menu of a pin, and what the window says afterwards.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/frame/bars/twin_runs.h"
#include "model/jobs/summary.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

class Rewinding : public BareTest {
  protected:
    void open_trained(int64_t step) {
        make();
        open_tiny_run();
        run("view.workspace_train\nframes 3\n");
        session().run().step(step);
        ASSERT_TRUE(until(
            [&] { return ui().status.step == step && ui().status.state == RunState::paused; }));
        steps(2);
    }
    bool is_back(int64_t step) {
        return until([&] { return ui().status.rewinds > 0 && ui().status.step == step; });
    }
};

TEST_F(Rewinding, TheListHasEverySavedStepAndGoesThere) {
    open_trained(45);
    run("click run/run/rewind\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_there("run/rewind/step_20"); }));
    EXPECT_TRUE(is_there("run/rewind/step_40"));
    EXPECT_FALSE(is_there("run/rewind/step_45"));
    EXPECT_NE(value_of("run/rewind/step_20").find("bits/dim"), std::string::npos);
    run("click \"run/rewind/step_20\"\nframes 2\n");
    ASSERT_TRUE(is_back(20));
    steps(3);
    EXPECT_EQ(value_of("run/run/progress"), "20 of 60");
    EXPECT_EQ(ui().curves->step.back(), 20);
    EXPECT_EQ(ui().curves->events.back().kind, "rewind");
    EXPECT_EQ(ui().curves->events.back().step, 20);
    ASSERT_FALSE(ui().toasts.shown().empty());
    const Toast toast = ui().toasts.shown().back();
    EXPECT_EQ(toast.title, "Back at step 20");
    EXPECT_NE(toast.detail.find("branches/until-00000045"), std::string::npos) << toast.detail;
    toast.run(ui());  // what was left behind can be opened, whole
    ASSERT_TRUE(until([&] { return ui().status.state == RunState::ready; }));
    EXPECT_EQ(ui().status.step, 45);
    EXPECT_EQ(ui().curves->step.back(), 45);
}

// Twins: the run and what it did before it was rewound stand on one timeline, from either side.
TEST_F(Rewinding, TheBranchStaysOnTheTimeline) {
    open_trained(45);
    const auto twins = [&] { return value_of("timeline/track/twins"); };
    EXPECT_EQ(twins(), "");
    ui().selection.step = 20;
    run("run.rewind_shown\nframes 2\n");
    ASSERT_TRUE(is_back(20));
    EXPECT_TRUE(until([&] { return twins() == "until-00000045"; })) << twins();
    const std::string run_path = ui().status.path;
    stage_->frame().open(run_path + "/branches/until-00000045");
    ASSERT_TRUE(until([&] { return ui().status.path.ends_with("until-00000045"); }));
    const std::string name = std::filesystem::path(run_path).filename().string();
    EXPECT_TRUE(until([&] { return twins() == name; })) << twins() << ", wanted " << name;
}

// A branch of the shown step: listed and shown beside its run before it starts and after.
TEST_F(Rewinding, ARunBegunFromAStepIsShownBesideItsRun) {
    open_trained(45);
    const std::string run_path = ui().status.path;
    const std::string name = std::filesystem::path(run_path).filename().string();
    const auto twins = [&] { return value_of("timeline/track/twins"); };
    ui().selection.step = 40;
    run("run.branch_shown\nframes 2\n");
    ASSERT_TRUE(until([&] { return ui().status.path.ends_with("step-00000040.safetensors"); }));
    EXPECT_TRUE(until([&] { return twins() == name; })) << twins();
    EXPECT_EQ(ui().overlays, std::vector<std::string>{run_path});
    EXPECT_TRUE(is_there("explorer/runs/" + ui().status.path));
    EXPECT_TRUE(is_there("explorer/runs/" + run_path));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(run_path).parent_path());
    session().run().step(2);
    EXPECT_TRUE(until([&] { return ui().status.step == 42; }));
    EXPECT_NE(ui().status.path, run_path);
    steps(2);
    EXPECT_TRUE(until([&] { return twins() == name; })) << twins();
    EXPECT_EQ(ui().overlays, std::vector<std::string>{run_path});
    const auto& events = ui().curves->events;
    EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                            [](const Event& e) { return e.kind == "branch" && e.step == 40; }));
    session().run().stop();
    EXPECT_TRUE(until([&] { return ui().status.state == RunState::stopped; }));
    std::filesystem::current_path(before);
}

TEST_F(Rewinding, ARunIsNoTwinOfItself) {
    open_trained(20);
    const std::string path = ui().status.path;
    const std::string saved = path + "/checkpoints/step-00000020.safetensors";
    ASSERT_TRUE(std::filesystem::exists(saved));
    std::ofstream(path + "/events.jsonl", std::ios::app)
        << fmt::format(R"({{"step": 0, "kind": "branch", "detail": {{"file": "{}"}}}})", saved)
        << "\n";
    EXPECT_EQ(run_begun_from(path), path) << "so its log says";
    EXPECT_EQ(twin_folders(path), std::vector<std::string>());
}

TEST_F(Rewinding, TheShownStepMustBeSavedWhole) {
    open_trained(45);
    const auto why = [&] { return ui().actions.why_not(ui(), "run.rewind_shown"); };
    EXPECT_NE(why().find("Scrub the timeline"), std::string::npos) << why();
    ui().selection.step = 32;
    EXPECT_NE(why().find("Only the biases"), std::string::npos) << why();
    ui().selection.step = 40;
    EXPECT_EQ(why(), "");
    run("run.rewind_shown\nframes 2\n");
    ASSERT_TRUE(is_back(40));
    EXPECT_EQ(ui().selection.step, -1);
}

TEST_F(Rewinding, TheMenuOfAPinGoesBackToItsStep) {
    open_trained(45);
    const WidgetRecord* const pin = ui().recorder.find("timeline/track/pin_save_20");
    ASSERT_NE(pin, nullptr);
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent((pin->min.x + pin->max.x) / 2, (pin->min.y + pin->max.y) / 2);
    steps(2);
    io.AddMouseButtonEvent(1, true);
    steps(1);
    io.AddMouseButtonEvent(1, false);
    ASSERT_TRUE(until([&] { return is_there("timeline/track/run.branch_shown"); }));
    for (const char* const id : {"view.workspace_biases", "compare.with_shown", "file.save_view"})
        EXPECT_TRUE(is_there(std::string("timeline/track/") + id)) << id;
    run("click \"timeline/track/run.rewind_shown\"\nframes 2\n");
    ASSERT_TRUE(is_back(20));
}

TEST_F(Rewinding, AnyStepOfTheTrackHasTheMenu) {
    open_trained(45);
    const WidgetRecord* const track = ui().recorder.find("timeline/track/track");
    ASSERT_NE(track, nullptr);
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent(track->min.x + (track->max.x - track->min.x) * 0.6F,
                        (track->min.y + track->max.y) / 2);
    steps(2);
    io.AddMouseButtonEvent(1, true);
    steps(1);
    io.AddMouseButtonEvent(1, false);
    ASSERT_TRUE(until([&] { return is_there("timeline/track/compare.with_shown"); }));
    EXPECT_GT(ui().selection.step, 0);
    EXPECT_TRUE(is_there("timeline/track/file.save_view"));
}

TEST_F(Rewinding, ASingleCheckpointHasNothingToGoBackTo) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_train\nframes 3\n");
    const WidgetRecord* const button = ui().recorder.find("run/run/rewind");
    ASSERT_NE(button, nullptr);
    EXPECT_NE(button->why_not.find("single checkpoint"), std::string::npos) << button->why_not;
}

}  // namespace
}  // namespace aft::app
