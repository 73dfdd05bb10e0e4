// One number for one name: what the window says twice is the same twice, it belongs to the step
// that is shown, and states are called what they are.
#include "app/panels/bias_tools.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Honest : public BareTest {
  protected:
    void open_mirror() {
        initialize_model("cpu", 1);
        make();
        stage_->frame().open(AFT_SOURCE_DIR "/assets/demo/mirror.safetensors");
        run("frames 2\nwait Ready 60\nworkspace Biases\nframes 3\nwait drawn 30\n");
    }
};

// Training publishes faster than the worker answers: the newest answer is never there in time.
TEST_F(Honest, AMapMovesOnThoughItIsNeverTheNewest) {
    make();
    open_tiny_run();
    run("workspace Home\nframes 2\n");  // no pane asks for anything
    const ProbeRequest request = probe("bias");
    const auto train_to = [&](int64_t step) {
        ui().session->step(step - ui().status.step);
        ASSERT_TRUE(until(
            [&] { return ui().status.step == step && ui().status.state == RunState::paused; }));
    };
    const auto answered = [&] {
        return until([&] { return ui().session->ask(request, false, nullptr) != nullptr; });
    };
    Watch watch;
    AskTurn turns[3];
    ASSERT_TRUE(answered());
    ASSERT_TRUE(watch.update(ui(), request, turns[0]));
    ASSERT_EQ(watch.fields()->fields.front().step, 0);
    train_to(10);
    ASSERT_TRUE(answered());
    train_to(20);  // before the pane has looked
    EXPECT_TRUE(watch.update(ui(), request, turns[1]));
    EXPECT_EQ(watch.fields()->fields.front().step, 10);
    ASSERT_TRUE(answered());
    EXPECT_TRUE(watch.update(ui(), request, turns[2]));
    EXPECT_EQ(watch.fields()->fields.front().step, 20);
}

TEST_F(Honest, OnlyARunThatTrainsIsLive) {
    RunState state = RunState::running;
    make(fed([&](Ui& ui) {
        feed_small(ui);
        ui.status.state = state;
    }));
    run("workspace Train\nframes 2\n");
    EXPECT_EQ(value_of("Timeline/Track/Live"), "live");
    for (const RunState rest : {RunState::stopped, RunState::paused, RunState::ready}) {
        state = rest;
        steps(2);
        EXPECT_EQ(value_of("Timeline/Track/Live"), "latest");
    }
}

TEST_F(Honest, APinIsAMarkOnTheTimelineThatGoesBack) {
    make(fed(feed_small));
    run("workspace Biases\nframes 2\n");
    ui().selection.step = 20;
    run("key P\nkey End\nframes 2\n");
    EXPECT_EQ(ui().selection.step, -1);
    ASSERT_TRUE(is_there("Timeline/Track/Kept 0 20"));
    run("click \"Timeline/Track/Kept 0 20\"\nframes 2\n");
    EXPECT_EQ(ui().selection.step, 20);
}

TEST_F(Honest, TheFirstLossIsOnlyCloseWhereItIs) {
    double first = std::log(4.0);
    make(fed([&](Ui& ui) {
        feed_small(ui);
        ui.status.config.model.levels = 4;
        auto curves = std::make_shared<Curves>(*ui.curves);
        curves->columns["loss"].front() = first;
        ui.curves = curves;
    }));
    run("workspace Train\nframes 3\n");
    EXPECT_NE(value_of("Controls/Checks/Check").find("close to log2 4 = 2.000"), std::string::npos)
        << value_of("Controls/Checks/Check");
    first = 1.2 * std::log(4.0);
    steps(2);
    EXPECT_NE(value_of("Controls/Checks/Check").find("0.400 above log2 4"), std::string::npos)
        << value_of("Controls/Checks/Check");
}

TEST_F(Honest, UndoAndRedoCanBePressedWhereThereIsAStroke) {
    open_mirror();
    run("workspace Complete\nframes 4\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    steps(4);
    const auto why = [&](const char* action) { return ui().actions.why_not(ui(), action); };
    EXPECT_EQ(why("Redo stroke"), "No stroke was taken back.");
    for (int i = 0; i < 100 && why("Undo stroke").empty(); ++i) run("Undo stroke\n");
    EXPECT_EQ(why("Undo stroke"), "There is no stroke to take back.");
    run("Invert mask\nframes 2\n");
    EXPECT_EQ(why("Undo stroke"), "");
    run("Undo stroke\nframes 2\n");
    EXPECT_EQ(why("Undo stroke"), "There is no stroke to take back.");
    EXPECT_EQ(why("Redo stroke"), "");
}

TEST_F(Honest, HomeCallsARunOfThisWindowByItsState) {
    make();
    open_tiny_run();
    run("Start training\nwait Stopped 60\nworkspace Home\nframes 3\n");
    const auto state = [&] {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.kind == "row" && w.label.find(folder_.string()) != std::string::npos)
                return w.value;
        return std::string();
    };
    ASSERT_TRUE(until([&] { return state() != ""; }));
    EXPECT_EQ(state(), "finished") << "it holds the lock, but nothing runs";
}

}  // namespace
}  // namespace aft::app
