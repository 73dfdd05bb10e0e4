// Undo of settings and of how maps are drawn: Ctrl+Z takes the last change back, Ctrl+Y makes it
// again; a drag is one.
#include "app/state/change_history.h"
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"

namespace aft::app {
namespace {

class SettingUndo : public BareTest {};

TEST_F(SettingUndo, GivesValuesBackAndAgain) {
    initialize_model("cpu", 1);
    make();
    OpenRequest request;
    request.config = tiny_config();
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{request});
    run("frames 2\nwait Ready\nview.workspace_train\nframes 4\n");
    const auto rate = [&] { return ui().status.config.train.learning_rate; };
    const auto decay = [&] { return ui().status.config.train.weight_decay; };
    const double first_rate = rate(), first_decay = decay();
    EXPECT_NE(ui().actions.why_not(ui(), "edit.undo"), "");
    run("set controls/optimiser/train.learning_rate 0.005\nframes 4\n");
    ASSERT_TRUE(until([&] { return rate() == 0.005; }));
    run("set controls/optimiser/train.weight_decay 0.25\nframes 4\n");
    ASSERT_TRUE(until([&] { return decay() == 0.25; }));
    run("key Ctrl+Z\nframes 4\n");
    ASSERT_TRUE(until([&] { return decay() == first_decay; }));
    EXPECT_EQ(rate(), 0.005);
    run("key Ctrl+Z\nframes 4\n");
    ASSERT_TRUE(until([&] { return rate() == first_rate; }));
    EXPECT_NE(ui().actions.why_not(ui(), "edit.undo"), "");
    run("key Ctrl+Y\nframes 4\n");
    ASSERT_TRUE(until([&] { return rate() == 0.005; }));
}

TEST(ChangeHistory, ADragIsOneChangeAndANewOneEndsRedo) {
    ChangeHistory history;
    const auto set = [&](const char* key, const char* before, const char* after, double time,
                         double press = -1) {
        history.add(
            {.of = SettingChange{key, before, after}, .what = key, .time = time, .press = press});
    };
    const auto after = [](const std::optional<UserChange>& change) {
        return std::get<SettingChange>(change->of).after;
    };
    set("train.clip", "1", "2", 0);
    set("train.clip", "2", "3", 0.5);
    set("train.clip", "3", "3", 0.6);
    set("train.clip", "3", "4", 9, 8.5);
    set("train.clip", "4", "5", 12, 8.5);  // the button has been down all the time
    EXPECT_EQ(after(history.undo()), "3");
    const auto first = history.undo();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->what, "train.clip");
    EXPECT_EQ(after(first), "1");
    EXPECT_EQ(history.next_undo(), nullptr);
    EXPECT_EQ(after(history.redo()), "3");
    set("train.ema", "0", "1", 20);
    EXPECT_EQ(history.next_redo(), nullptr);
    EXPECT_EQ(history.undo()->what, "train.ema");
}

class LookUndo : public BareTest {
  protected:
    // What the newest toast says was taken back.
    std::string said() {
        return ui().toasts.shown().empty() ? "" : ui().toasts.shown().back().detail;
    }
};

TEST_F(LookUndo, TakesBackHowMapsAreDrawnAmongTheSettings) {
    make();
    open_tiny_run(4);
    stage_->set_size({2200, 1000});  // all tools have space
    run("view.workspace_biases\nframes 20\nclick atlas/main/tab\nframes 20\n");
    const MapDisplay first = ui().selection;
    EXPECT_NE(ui().actions.why_not(ui(), "edit.undo"), "");
    run("key G\nframes 3\nset atlas/main/order rms\nframes 3\nclick "
        "atlas/main/quantity=w\nframes 3\n");
    EXPECT_EQ(ui().selection.quantity, Quantity::w);
    EXPECT_EQ(ui().selection.order, OrderKey::rms);
    EXPECT_NE(ui().selection.gauge, first.gauge);
    const auto rate = [&] { return ui().status.config.train.learning_rate; };
    const double first_rate = rate();
    run("view.workspace_train\nframes 4\nset controls/optimiser/train.learning_rate 0.005\n"
        "frames 4\n");
    ASSERT_TRUE(until([&] { return rate() == 0.005; }));
    run("map.next_range_rule\nframes 3\nkey Ctrl+Z\nframes 4\n");
    EXPECT_EQ(ui().selection.range_mode, first.range_mode);
    EXPECT_EQ(said(), "range rule");
    run("key Ctrl+Z\nframes 4\n");
    ASSERT_TRUE(until([&] { return rate() == first_rate; })) << "one order of all changes";
    EXPECT_EQ(said(), "train.learning_rate = " + std::to_string(first_rate).substr(0, 5));
    run("view.workspace_biases\nframes 3\nkey Ctrl+Z\nframes 3\n");
    EXPECT_EQ(ui().selection.quantity, first.quantity);
    EXPECT_EQ(ui().selection.order, OrderKey::rms);
    run("key Ctrl+Z\nframes 3\nkey Ctrl+Z\nframes 3\n");
    EXPECT_EQ(ui().selection.order, first.order);
    EXPECT_EQ(ui().selection.gauge, first.gauge);
    EXPECT_NE(ui().actions.why_not(ui(), "edit.undo"), "");
    run("key Ctrl+Y\nframes 3\n");
    EXPECT_NE(ui().selection.gauge, first.gauge);
    EXPECT_EQ(ui().selection.order, first.order);
}

TEST_F(LookUndo, ADragOfAColourBarIsOneChange) {
    open_trained_run(20);
    run("view.workspace_biases\nframes 20\nclick atlas/main/tab\nframes 20\n"
        "selection.next_layer\nframes 5\n");
    ASSERT_TRUE(until([&] { return is_there("inspector/range/colour_bar"); })) << dump(ui());
    const WidgetRecord bar = *ui().recorder.find("inspector/range/colour_bar");
    UiDriver driver(stage_, 1);
    const float y = (bar.min.y + bar.max.y) / 2;
    driver.drag({bar.max.x - 1, y}, {bar.max.x - 60, y});
    ASSERT_TRUE(ui().selection.range_by_hand);
    run("frames 3\nkey Ctrl+Z\nframes 3\n");
    EXPECT_FALSE(ui().selection.range_by_hand) << "from the start of the drag";
    EXPECT_EQ(said(), "range, at layer 1");
    EXPECT_NE(ui().actions.why_not(ui(), "edit.undo"), "");
    run("key Ctrl+Y\nframes 3\nmap.fit_range\nframes 3\nkey Ctrl+Z\nframes 3\n");
    EXPECT_TRUE(ui().selection.range_by_hand);
}

TEST_F(LookUndo, InTheLabTheNewerChangeComesFirst) {
    make();
    open_tiny_run(4);
    const auto interventions = [&] { return ui().selection.lab.recipe.interventions.size(); };
    run("view.workspace_lab\nframes 3\nmap.next_quantity\nframes 2\nlab.zero_selected\n"
        "frames 3\nmap.switch_gauge\nframes 3\n");
    ASSERT_EQ(interventions(), 1U);
    const MapDisplay last = ui().selection;
    run("key Ctrl+Z\nframes 3\n");
    EXPECT_NE(ui().selection.gauge, last.gauge);
    EXPECT_EQ(interventions(), 1U);
    run("key Ctrl+Z\nframes 3\n");
    EXPECT_EQ(interventions(), 0U);
    EXPECT_EQ(ui().selection.quantity, last.quantity);
    run("key Ctrl+Z\nframes 3\n");
    EXPECT_NE(ui().selection.quantity, last.quantity);
    run("key Ctrl+Y\nframes 3\nkey Ctrl+Y\nframes 3\n");
    EXPECT_EQ(ui().selection.quantity, last.quantity);
    EXPECT_EQ(interventions(), 1U);
    EXPECT_NE(ui().selection.gauge, last.gauge);
    run("key Ctrl+Y\nframes 3\n");
    EXPECT_EQ(ui().selection.gauge, last.gauge);
}

}  // namespace
}  // namespace aft::app
