// A setting that was changed and given its value back is not marked as a change that holds.
#include "app/state/standing_events.h"

#include "app/frame/bars/pinned_events.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

std::string words(const std::vector<Event>& events) {
    std::string out;
    for (const Event& event : standing_events(events))
        out += fmt::format("{} {} {}; ", event.step, event.kind, event.text);
    return out;
}

TEST(StandingEvents, WhatIsTakenBackAtItsStepIsNotThere) {
    EXPECT_EQ(words({{5, "setting", "train.clip = 2"},
                     {5, "setting", "train.clip = 3"},
                     {5, "learning-rate", "train.learning_rate = 0.1"},
                     {5, "setting", "train.clip = 1 (undone)"}}),
              "5 learning-rate train.learning_rate = 0.1; ");
    EXPECT_EQ(words({{5, "setting", "train.clip = 2"},
                     {5, "setting", "train.clip = 3"},
                     {5, "setting", "train.clip = 2.0 (undone)"}}),
              "5 setting train.clip = 2; ");
}

TEST(StandingEvents, WhatIsTakenBackLaterSaysWhen) {
    EXPECT_EQ(words({{5, "setting", "train.clip = 2"},
                     {5000, "setting", "train.clip = 1 (undone)"},
                     {6000, "setting", "train.clip = 2"}}),
              "5 undone train.clip = 2 (undone at step 5 000); "
              "5000 undone train.clip = 1 (undone); 6000 setting train.clip = 2; ");
}

TEST(StandingEvents, ATargetBeforeTheFirstStepChangesNothing) {
    EXPECT_EQ(words({{0, "target", "target step 9"}, {9, "target", "target step 12"}}),
              "9 target target step 12; ");
}

class UndoneSetting : public BareTest {};

TEST_F(UndoneSetting, HasNoPinOnTheTimeline) {
    make();
    open_tiny_run();
    run("view.workspace_train\nframes 4\nrun.step\nwait Paused\nframes 4\n");
    PinnedEvents pins;
    const auto changes = [&] {
        return std::count_if(pins.of(ui()).begin(), pins.of(ui()).end(), [](const Event& event) {
            return event.kind == "learning-rate" || event.kind == "undone";
        });
    };
    const double before = ui().status.config.train.learning_rate;
    run("set controls/optimiser/train.learning_rate 0.005\nframes 4\n");
    ASSERT_TRUE(until([&] { return changes() == 1; }));
    run("key Ctrl+Z\nframes 4\n");
    ASSERT_TRUE(until([&] { return ui().status.config.train.learning_rate == before; }));
    EXPECT_TRUE(until([&] { return changes() == 0; }));
    run("key Ctrl+Y\nframes 4\n");
    EXPECT_TRUE(until([&] { return changes() == 1; })) << "done again";
}

}  // namespace
}  // namespace aft::app
