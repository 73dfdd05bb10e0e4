// A watch that is cancelled asks no more until that is taken back or another request comes.
#include "app/panels/shared/watch.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class WatchCancel : public BareTest {
  protected:
    bool is_read(Watch& watch, const ProbeRequest& request) {
        return until([&] {
            AskTurn turn;
            (void)watch.update(ui(), request, turn);
            return watch.is_current();
        });
    }
    // Without a frame between, so that no pane asks for anything.
    void expect_not_asked(Watch& watch, const ProbeRequest& request) {
        const AnswersMissed before = session().probes().missed();
        for (int i = 0; i < 10; ++i) {
            AskTurn turn;
            EXPECT_FALSE(watch.update(ui(), request, turn));
        }
        EXPECT_EQ(session().probes().missed().of_newest, before.of_newest);
        EXPECT_EQ(session().probes().missed().of_steps, before.of_steps);
        EXPECT_FALSE(watch.is_current());
    }
};

TEST_F(WatchCancel, AsksNoMoreUntilItIsTakenBackOrAnotherRequestComes) {
    open_mirror();
    ProbeRequest request;
    request.probe = "symmetry";  // no pane that is shown asks for it
    Watch watch;
    AskTurn turn;
    (void)watch.update(ui(), request, turn);
    EXPECT_TRUE(watch.is_pending());
    watch.set_cancelled(ui(), true);
    EXPECT_TRUE(watch.is_cancelled());
    EXPECT_FALSE(watch.is_pending());
    expect_not_asked(watch, request);
    ProbeRequest other = request;
    other.layer = 1;
    EXPECT_TRUE(is_read(watch, other));
    EXPECT_FALSE(watch.is_cancelled());
    watch.set_cancelled(ui(), true);
    watch.set_cancelled(ui(), false);
    EXPECT_TRUE(is_read(watch, request));
}

}  // namespace
}  // namespace aft::app
