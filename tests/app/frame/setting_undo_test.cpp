// Undo of settings: Ctrl+Z gives a live setting its value back, Ctrl+Y the new one; a drag is one.
#include "app/state/setting_history.h"
#include "tests/app/stage_fixture.h"

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
    run("frames 2\nwait Ready 60\nview.workspace_train\nframes 4\n");
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

TEST(SettingHistory, ADragIsOneChangeAndANewOneEndsRedo) {
    SettingHistory history;
    history.add({"train.clip", "1", "2", 0});
    history.add({"train.clip", "2", "3", 0.5});
    history.add({"train.clip", "3", "3", 0.6});
    history.add({"train.clip", "3", "4", 9});
    EXPECT_EQ(history.undo()->after, "3");
    const auto first = history.undo();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->key, "train.clip");
    EXPECT_EQ(first->after, "1");
    EXPECT_FALSE(history.can_undo());
    EXPECT_EQ(history.redo()->after, "3");
    history.add({"train.ema", "0", "1", 20});
    EXPECT_FALSE(history.can_redo());
    EXPECT_EQ(history.undo()->key, "train.ema");
}

}  // namespace
}  // namespace aft::app
