// A run that another process trains and that has stopped growing is not shown as a healthy one.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

constexpr int kFrames = 60 * 20;  // of 20 seconds

class SilentRun : public BareTest {
  protected:
    void follow() {
        FrameOptions options;
        options.feed = [this](Ui& ui) {
            feed_small(ui);
            ui.status.following = is_followed_;
            ui.status.state = RunState::running;
            ui.status.step = step_;
            ui.status.step_ms = 100;
        };
        make(std::move(options));
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

}  // namespace
}  // namespace aft::app
