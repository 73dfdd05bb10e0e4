// The pins of the timeline: the log's events and every saved step, rebuilt only for another log.
#include "app/frame/bars/pinned_events.h"

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Pins : public BareTest {};

TEST_F(Pins, AreKeptWhileTheLogIsTheSame) {
    make(fed(feed_small));
    PinnedEvents pins;
    Ui& window = ui();
    const auto curves = window.curves;
    const Event* const first = pins.of(window).data();
    ASSERT_EQ(pins.of(window).size(), 2u);
    EXPECT_EQ(pins.of(window).data(), first) << "nothing has changed: nothing is copied";
    auto other = std::make_shared<Curves>(*curves);
    other->events.push_back({35, "note", "more"});
    window.curves = other;
    ASSERT_EQ(pins.of(window).size(), 3u);
    EXPECT_EQ(pins.of(window)[2].step, 35);
}

TEST_F(Pins, AreTheSavedStepsOfARunInTheirOrder) {
    make();
    open_tiny_run();
    PinnedEvents pins;
    const auto saved = [&] {
        std::vector<int64_t> steps;
        for (const Event& event : pins.of(ui()))
            if (event.kind == "save") steps.push_back(event.step);
        return steps;
    };
    session().run().step(25);
    ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
    ASSERT_TRUE(until([&] { return ui().session->saved_steps().size() >= 1; }));
    EXPECT_EQ(saved(), ui().session->saved_steps());
    const size_t before = saved().size();
    session().run().set("train.learning_rate", "0.0001");
    session().run().save();
    ASSERT_TRUE(until([&] { return ui().session->saved_steps().size() > before; }));
    EXPECT_EQ(saved(), ui().session->saved_steps());
    const std::vector<Event>& all = pins.of(ui());
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                               [](const Event& a, const Event& b) { return a.step < b.step; }));
}

}  // namespace
}  // namespace aft::app
