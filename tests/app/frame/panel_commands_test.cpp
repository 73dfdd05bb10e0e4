// The queue of commands: what the frame takes, what it leaves to the host, and what a panel cannot
// do without it.
#include "model/model_files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

template <class S>
concept HasRun = requires(S& session) { session.run(); };
template <class S>
concept HasPace = requires(S& session) { session.pace(); };
template <class S>
concept Completes =
    requires(S& session, CompletionRequest request) { session.completions().start(request); };

static_assert(HasRun<Session> && HasPace<Session> && Completes<Session>);
static_assert(!HasRun<const Session> && !HasPace<const Session> && !Completes<const Session>,
              "a panel's session is const: it reads and asks");

class PanelCommands : public BareTest {};

TEST_F(PanelCommands, QuitIsLeftToTheHost) {
    Commands commands;
    commands.send(ShowStep{3});
    commands.send(Quit{});
    commands.send(ShowPane{"log"});
    const std::vector<Command> taken = commands.take();
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(std::get<ShowStep>(taken[0]).step, 3);
    EXPECT_EQ(std::get<ShowPane>(taken[1]).id, "log");
    EXPECT_TRUE(commands.is_quitting());
    EXPECT_TRUE(commands.take().empty());
    commands.stay();
    EXPECT_FALSE(commands.is_quitting());
}

TEST_F(PanelCommands, WorkspaceAndStepChangeBeforeTheNextFrame) {
    make(fed(feed_small));
    ui().commands.send(ShowWorkspace{Workspace::attention});
    ui().commands.send(ShowStep{20});
    EXPECT_NE(ui().workspace, Workspace::attention);
    steps(1);
    EXPECT_EQ(ui().workspace, Workspace::attention);
    EXPECT_EQ(ui().selection.step, 20);
}

// What is for the open session reaches it though another one takes its place in the same frame.
TEST_F(PanelCommands, TheOpenSessionIsServedBeforeItIsReplaced) {
    make();
    open_tiny_run();
    const std::string path = ui().status.path;
    ui().commands.send(CloseModel{});
    ui().commands.send(SaveCheckpoint{});
    steps(1);
    EXPECT_EQ(ui().session, nullptr);
    (void)stage_->frame().end_sessions();
    EXPECT_TRUE(std::filesystem::exists(checkpoint_file(path, 0)));
}

// Without a session its commands do nothing.
TEST_F(PanelCommands, NothingIsOpen) {
    make();
    for (const SessionCommand& command :
         {SessionCommand(StartTraining{}), SessionCommand(PauseTraining{}),
          SessionCommand(TrainUntil{10}), SessionCommand(StopCompletion{}),
          SessionCommand(SetSetting{"train.steps", "5"}), SessionCommand(StartCompletion{})})
        ui().commands.send(command);
    steps(2);
    EXPECT_EQ(ui().status.state, RunState::empty);
    EXPECT_TRUE(ui().toasts.shown().empty());
}

// The window sleeps where no frame is wanted: what a panel asks in a frame is applied in the next.
TEST_F(PanelCommands, WaitingOnesBringTheirFrame) {
    bool sends = false;
    make(fed([&](Ui& ui) {
        feed_small(ui);
        if (std::exchange(sends, false)) ui.commands.send(ShowStep{20});
    }));
    ASSERT_TRUE(until([&] { return ui().wanted.count == 0; }));
    sends = true;
    steps(1);
    EXPECT_GT(ui().wanted.count, 0);
    EXPECT_NE(ui().selection.step, 20);
    steps(1);
    EXPECT_EQ(ui().selection.step, 20);
}

}  // namespace
}  // namespace aft::app
