// Numbers that Train is given: the step to run until, how many steps at once; and taking back
// what is being opened.
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"

namespace aft::app {
namespace {

constexpr const char* kTarget = "controls/optimiser/target_step";

class ControlsPane : public BareTest {
  protected:
    void open() {
        make();
        open_tiny_run();
        run("view.workspace_train\nframes 3\n");
    }
    bool is_at(int64_t step) {
        return until([&] {
            const RunState state = ui().status.state;
            return ui().status.step == step && state != RunState::running &&
                   state != RunState::stopping;
        });
    }
    void ask(UiDriver& driver) {
        run("run.until\nframes 4\n");
        ASSERT_EQ(ui().edit.id, "controls/optimiser/target_step");
        ASSERT_TRUE(ui().edit.typing);
        driver.step(2);
    }
};

TEST_F(ControlsPane, WhatNothingOfTheModelReadsIsLeftOut) {
    constexpr const char* kDecayOfBiases = "controls/optimiser/train.bias_weight_decay";
    open();
    EXPECT_TRUE(is_there(kDecayOfBiases));
    make(fed([](Ui& ui) {
        feed_small(ui);
        ui.status.config.model.mixer = "softmax";
        ui.status = with_traits(ui.status);
    }));
    run("view.workspace_train\nframes 3\n");
    EXPECT_TRUE(is_there("controls/optimiser/train.weight_decay"));
    EXPECT_FALSE(is_there(kDecayOfBiases)) << "softmax attention has no position bias";
}

TEST_F(ControlsPane, AMicroBatchOfNoneIsTheWholeBatch) {
    const std::string field = "controls/optimiser/train.micro_batch";
    open();
    EXPECT_EQ(value_of(field), "the whole batch");
    run("set " + field + " 1\nframes 3\n");
    EXPECT_TRUE(until([&] { return value_of(field) == "1"; })) << value_of(field);
    run("set " + field + " 0\nframes 3\n");
    EXPECT_TRUE(until([&] { return value_of(field) == "the whole batch"; })) << value_of(field);
}

TEST_F(ControlsPane, RunUntilContinuesToTheStepThatIsTyped) {
    open();
    UiDriver driver(stage_, 1);
    ask(driver);
    driver.type("5");
    driver.key("Enter");
    EXPECT_TRUE(is_at(5)) << ui().status.step;
    EXPECT_EQ(ui().status.target_step, 5);
}

TEST_F(ControlsPane, RunUntilContinuesWhereTheStepStaysAsItIs) {
    open();
    run(std::string("set ") + kTarget + " 6\nframes 2\n");
    ASSERT_TRUE(until([&] { return ui().status.target_step == 6; }));
    ASSERT_EQ(ui().status.state, RunState::ready) << "a number alone does not begin";
    UiDriver driver(stage_, 1);
    ask(driver);
    driver.key("Enter");
    EXPECT_TRUE(is_at(6)) << ui().status.step;
}

TEST_F(ControlsPane, EscapeTakesRunUntilBack) {
    open();
    UiDriver driver(stage_, 1);
    ask(driver);
    driver.type("5");
    driver.key("Escape");
    ASSERT_FALSE(ui().edit.typing);
    // A target that is set later is a number again, not a start.
    run(std::string("set ") + kTarget + " 7\nframes 2\n");
    ASSERT_TRUE(until([&] { return ui().status.target_step == 7; }));
    EXPECT_EQ(ui().status.state, RunState::ready);
    EXPECT_EQ(ui().status.step, 0);
}

TEST_F(ControlsPane, AClickElsewhereIsNoStart) {
    open();
    UiDriver driver(stage_, 1);
    ask(driver);
    driver.type("5");
    const WidgetRecord other = driver.find("controls/optimiser/steps_at_once");
    EXPECT_TRUE(
        driver.press(other, {(other.min.x + other.max.x) / 2, (other.min.y + other.max.y) / 2}));
    driver.step(5);
    EXPECT_TRUE(until([&] { return ui().status.target_step == 5; })) << "a number alone";
    EXPECT_EQ(ui().status.state, RunState::ready);
    EXPECT_EQ(ui().status.step, 0);
}

TEST_F(ControlsPane, TheButtonRunUntilOpensItsFieldWhereItWasPressed) {
    open();
    run("click run/run/until\nframes 3\n");
    const WidgetRecord* const step = ui().recorder.find("run/run_until/step");
    const WidgetRecord* const button = ui().recorder.find("run/run/until");
    ASSERT_TRUE(step != nullptr && button != nullptr);
    EXPECT_LT(step->min.y - button->max.y, 40) << "just below it";
    EXPECT_TRUE(ui().edit.typing);
    UiDriver driver(stage_, 1);
    driver.step(2);
    driver.type("4");
    driver.key("Enter");
    EXPECT_TRUE(is_at(4)) << ui().status.step;
    EXPECT_FALSE(is_there("run/run_until/step"));
    run("click run/run/until\nframes 4\n");
    driver.type("9");
    driver.key("Escape");
    driver.step(3);
    EXPECT_FALSE(is_there("run/run_until/step"));
    EXPECT_EQ(ui().status.step, 4);
    EXPECT_EQ(ui().status.target_step, 4);
}

TEST_F(ControlsPane, RunUntilTakesALossOrATimeThatStandsBesideTheButtonsUntilItIsRemoved) {
    open();
    const char* const chip = "run/run/remove_until";
    ASSERT_FALSE(is_there(chip));
    run("click run/run/until\nframes 3\nclick run/run_until/condition=by_loss\nframes 3\n");
    ASSERT_TRUE(is_there("run/run_until/loss"));
    UiDriver driver(stage_, 1);
    driver.step(2);
    driver.type("100");
    driver.key("Enter");
    EXPECT_TRUE(is_at(20)) << ui().status.step << " " << ui().status.message;
    EXPECT_EQ(ui().status.state, RunState::stopped);
    EXPECT_EQ(value_of("run/run/until_words"), "until loss 100 bits/dim");
    run(std::string("click ") + chip + "\nframes 3\n");
    EXPECT_TRUE(until([&] { return !is_there(chip); }));
}

TEST_F(ControlsPane, TheComingLearningRateIsDrawnAndFollowsTheSettings) {
    open();
    const std::string before = value_of("controls/optimiser/schedule");
    EXPECT_TRUE(before.starts_with("peak ")) << before;
    run("set controls/optimiser/train.learning_rate 0.5\nframes 3\n");
    EXPECT_TRUE(until([&] {
        return value_of("controls/optimiser/schedule").starts_with("peak 0.5 at step ");
    })) << value_of("controls/optimiser/schedule");
}

TEST_F(ControlsPane, FrozenGroupsAreTypedOrChosenAndAWrongNameIsExplainedAndStays) {
    open();
    const char* const field = "controls/optimiser/train.freeze";
    run(std::string("set ") + field + " kees\nframes 3\n");
    EXPECT_TRUE(until([&] { return ui().status.message.starts_with("train.freeze: "); }));
    EXPECT_NE(ui().status.message.find("'kees' ('keys'?)"), std::string::npos);
    run("frames 3\n");
    EXPECT_EQ(value_of(field), "kees") << "to be mended";
    const auto frozen = [&] {
        Config config = ui().status.config;
        SettingRows rows = config.rows();
        return value_text(*find_setting(rows, "train.freeze"));
    };
    EXPECT_EQ(frozen(), "");
    run(std::string("set ") + field + " keys,biases\nframes 3\n");
    EXPECT_TRUE(until([&] { return value_of(field) == "keys,biases"; }));
    const auto is_frozen = [&](const char* names) {
        return until([&] { return frozen() == names; });
    };
    run(std::string("click ") + field + "_parts\nframes 3\n");
    run(std::string("click ") + field + "_mlp\nframes 3\n");
    EXPECT_TRUE(is_frozen("keys,biases,mlp")) << frozen();
    run(std::string("click ") + field + "_keys\nframes 3\n");
    EXPECT_TRUE(is_frozen("biases,mlp")) << frozen();
    run("key Esc\nframes 3\n");
    EXPECT_TRUE(until([&] { return value_of(field) == "biases,mlp"; }));
}

TEST_F(ControlsPane, ARunThatEndsByItselfIsANotice) {
    open();
    ASSERT_TRUE(ui().toasts.history().empty());
    run("run.start\nwait Stopped\nframes 3\n");
    ASSERT_EQ(ui().toasts.history().size(), 1U);
    EXPECT_NE(ui().toasts.history()[0].title.find("has ended"), std::string::npos);
    EXPECT_EQ(ui().toasts.history()[0].detail, "step 60 reached and saved");
    run("set controls/optimiser/target_step 100000\nframes 3\nrun.start\nwait Running\n"
        "frames 3\nrun.stop\nwait Stopped\nframes 3\n");
    EXPECT_EQ(ui().toasts.history().size(), 1U) << "a stop that was asked for is no news";
}

TEST_F(ControlsPane, AFolderThatGoesAndComesBackIsANotice) {
    open_trained_run(20);
    make();
    stage_->frame().open(folder_.string());
    run("frames 2\nwait Ready\nframes 5\n");
    const auto is_said = [&](const char* words) {
        return until([&] {
            const auto& all = ui().toasts.history();
            return !all.empty() && all.back().title.ends_with(words);
        });
    };
    std::filesystem::rename(folder_, scratch_ / "away");
    EXPECT_TRUE(is_said(": its folder is gone"));
    std::filesystem::rename(scratch_ / "away", folder_);
    EXPECT_TRUE(is_said(": its folder is there again"));
}

TEST_F(ControlsPane, AtTheTargetStepThatIsSaidBesideTheButton) {
    make(fed([](Ui& now) {
        feed_small(now);
        now.status.step = now.status.target_step = 60;
        now.status.state = RunState::stopped;
    }));
    run("view.workspace_train\nframes 4\n");
    EXPECT_NE(value_of("run/run/target_reached").find("raise the target step"), std::string::npos);
    make(fed(feed_small));
    run("view.workspace_train\nframes 4\n");
    EXPECT_FALSE(is_there("run/run/target_reached"));
}

TEST_F(ControlsPane, RunUntilShowsItsFieldWhenTheSidePanesAreHidden) {
    open();
    run("view.side_panes\nframes 3\n");
    ASSERT_FALSE(is_there(kTarget));
    run("run.until\nframes 6\n");
    EXPECT_TRUE(is_there(kTarget));
    EXPECT_TRUE(ui().edit.typing);
}

TEST_F(ControlsPane, TheNumberOfStepsAtOnceIsChosen) {
    open();
    run("set \"controls/optimiser/steps_at_once\" 3\nframes 2\nrun.step_many\n");
    EXPECT_TRUE(is_at(3)) << ui().status.step;
    EXPECT_EQ(ui().settings.many_steps, 3);
    run("set \"controls/optimiser/steps_at_once\" 2\nclick \"run/run/step_many\"\nframes 2\n");
    EXPECT_TRUE(is_at(5)) << ui().status.step;
}

void feed_opening(Ui& ui) {
    ui.status = {};
    ui.status.state = RunState::opening;
    ui.status.path = "runs/large";
}

TEST_F(ControlsPane, OpeningCanBeCancelled) {
    make(fed(feed_opening));
    run("view.workspace_train\nframes 3\n");
    EXPECT_NE(dump(ui()).find("Opening runs/large"), std::string::npos);
    const WidgetRecord* cancel = ui().recorder.find("run/main/cancel");
    ASSERT_NE(cancel, nullptr);
    const std::string label = cancel->path.id;
    open();
    ASSERT_NE(ui().session, nullptr);
    ui().commands.send(CloseModel{});  // what the button requests
    steps(3);
    EXPECT_EQ(ui().session, nullptr);
    EXPECT_EQ(ui().status.state, RunState::empty);
    run("view.workspace_biases\nframes 3\n");
    EXPECT_NE(value_of("atlas/main/empty_state").find("No model open"), std::string::npos);
    open_tiny_run();  // the next one opens as ever
    EXPECT_EQ(ui().status.state, RunState::ready);
}

}  // namespace
}  // namespace aft::app
