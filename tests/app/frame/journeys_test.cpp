// Journeys through the window with a real tiny run, by label.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

using Journeys = BareTest;

int64_t step_of(Ui& ui) {
    const WidgetRecord* step = ui.recorder.find("status/main/step");
    return step == nullptr ? -1 : std::stoll(step->value);
}

TEST_F(Journeys, TrainPauseStepSaveStop) {
    make();
    open_tiny_run();
    EXPECT_EQ(ui().workspace, Workspace::train);
    EXPECT_EQ(value_of("run/run/primary"), "Start");
    run("click run/run/step\nwait Paused\n");
    EXPECT_EQ(step_of(ui()), 1);
    run("set controls/optimiser/train.learning_rate 1e-3\nframes 10\nclick run/run/primary\n"
        "wait Stopped\nframes 5\n");
    EXPECT_EQ(step_of(ui()), 60);
    EXPECT_EQ(ui().status.saved_step, 60);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoints" / "step-00000060.safetensors"));
    ASSERT_NE(ui().curves->columns.find("loss"), ui().curves->columns.end());
    EXPECT_EQ(ui().curves->columns.at("loss").size(), 60u);
    run("frames 5\n");
    EXPECT_NE(value_of("controls/checks/check"), "");
    bool has_pin = false;
    for (const Event& event : ui().curves->events)
        has_pin = has_pin || event.kind == "learning-rate";
    EXPECT_TRUE(has_pin);
}

TEST_F(Journeys, TargetStepGrowsAfterTheEnd) {
    make();
    open_tiny_run();
    run("set controls/optimiser/target_step 5\nframes 20\nrun.start\nwait Stopped\n");
    EXPECT_EQ(step_of(ui()), 5);
    run("set controls/optimiser/target_step 8\nframes 20\nrun.start\n");
    EXPECT_TRUE(until([&] { return step_of(ui()) == 8; })) << step_of(ui());
    run("wait Stopped\n");
}

TEST_F(Journeys, ScrubbingAndLive) {
    make();
    open_tiny_run();
    run("run.start\nwait Stopped\nframes 10\n");
    ASSERT_GE(ui().history.size(), 2u);
    run("time.first\n");
    EXPECT_EQ(ui().selection.step, ui().history.front());
    EXPECT_EQ(value_of("timeline/track/track"), std::to_string(ui().history.front()));
    run("key Right\n");
    EXPECT_EQ(ui().selection.step, ui().history[1]);
    run("key End\n");
    EXPECT_EQ(ui().selection.step, -1);
    EXPECT_EQ(value_of("timeline/track/live"), "latest");
}

TEST_F(Journeys, OpeningNonsenseIsAToastNotAnEnd) {
    make();
    run("open /no/such/file.safetensors\nframes 3\n");
    EXPECT_EQ(ui().session, nullptr);
    ASSERT_FALSE(ui().toasts.shown().empty());
    EXPECT_NE(ui().toasts.shown().back().detail.find("/no/such/file.safetensors"),
              std::string::npos);
    EXPECT_EQ(ui().toasts.unread_errors(), 1);
}

TEST_F(Journeys, SidePanesHideAndLayoutResets) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 3\n");
    ASSERT_TRUE(is_there("controls/optimiser/target_step"));
    run("key Tab\nframes 3\n");
    EXPECT_FALSE(is_there("controls/optimiser/target_step"));
    run("view.reset_layout\nframes 4\n");
    EXPECT_TRUE(is_there("controls/optimiser/target_step"));
}

TEST_F(Journeys, FileBrowserWalksAndRefuses) {
    const auto folder = std::filesystem::temp_directory_path() / "afterimage-browser";
    std::filesystem::create_directories(folder / "inner");
    make();
    run("file.open\nframes 3\nset file_browser/where/path " + folder.string() +
        "\nclick file_browser/where/go\nframes 3\n");
    EXPECT_EQ(value_of("file_browser/files/inner"), "folder");
    run("set file_browser/where/path /no/such/place\nclick file_browser/where/go\nframes 3\n");
    EXPECT_TRUE(is_there("file_browser/where/path"));
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(is_there("file_browser/where/path"));
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace aft::app
