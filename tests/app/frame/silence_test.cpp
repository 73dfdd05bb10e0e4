// A run that another process trains and that has stopped growing is not shown as a healthy one.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

constexpr int kFrames = 60 * 20;  // of 20 seconds

class SilentRun : public BareTest {
  protected:
    void follow(ImVec2 size = {1600, 1000}) {
        FrameOptions options;
        options.feed = [this](Ui& ui) {
            feed_small(ui);
            ui.status.following = is_followed_;
            ui.status.state = RunState::running;
            ui.status.step = step_;
            ui.status.step_ms = 100;
        };
        make(std::move(options), size);
    }
    int64_t step_ = 40;
    bool is_followed_ = true;
    const std::string words_ = "status/main/silent";
};

TEST_F(SilentRun, IsSaidAfterHalfAMinuteUntilItsNextStep) {
    follow();
    steps(kFrames);
    EXPECT_FALSE(is_there(words_)) << "20 s are no silence";
    steps(kFrames);
    EXPECT_TRUE(value_of(words_).ends_with(" s")) << value_of(words_);
    EXPECT_GE(std::stoi(value_of(words_)), 30);
    ++step_;
    steps(2);
    EXPECT_FALSE(is_there(words_));
}

TEST_F(SilentRun, OnesOwnRunIsNotWatched) {
    is_followed_ = false;
    follow();
    steps(2 * kFrames);
    EXPECT_FALSE(is_there(words_));
}

// Its maps are of its last checkpoint, and the LIVE pill says of which step.
TEST_F(SilentRun, MapsAreOfTheLastCheckpoint) {
    for (const ImVec2 size : {ImVec2(1600, 1000), ImVec2(800, 560)}) {
        is_followed_ = true;
        follow(size);
        run("view.workspace_train\nframes 3\n");
        EXPECT_EQ(value_of("timeline/track/maps_of"), "20");
        const WidgetRecord* const words = ui().recorder.find("timeline/track/maps_of");
        ASSERT_NE(words, nullptr);
        EXPECT_LE(words->max.x, size.x);
        EXPECT_EQ(ui().shown_weights(), 20);
        EXPECT_EQ(ui().shown_step(), 40);
        is_followed_ = false;
        steps(2);
        EXPECT_FALSE(is_there("timeline/track/maps_of"));
        EXPECT_EQ(ui().shown_weights(), 40);
    }
}

}  // namespace
}  // namespace aft::app
