// A run of which no checkpoint is left: Biases shows what is stored of its maps, Attention and the
// others say in a sentence why they show nothing.
#include <filesystem>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class LogsAlone : public BareTest {
  protected:
    void open_without_checkpoints() {
        open_trained_run(20);
        stage_.reset();
        std::filesystem::remove_all(folder_ / "checkpoints");
        make();
        stage_->frame().open(folder_.string());
        run("frames 2\nwait Ready\nframes 5\n");
    }
    // Sentences that end, of what is drawn in the middle.
    [[nodiscard]] bool says(const std::string& words) {
        return until([&] { return dump(ui()).find(words) != std::string::npos; });
    }
};

TEST_F(LogsAlone, BiasesShowsTheStoredMoments) {
    open_without_checkpoints();
    ASSERT_GT(ui().history.size(), 2u);
    run("view.workspace_biases\nframes 10\nclick focus/main/tab\nframes 10\n");
    EXPECT_TRUE(until([&] {
        return value_of("focus/main/map").find(" 64x64 ") != std::string::npos;
    })) << value_of("focus/main/map")
        << dump(ui());
    ui().commands.send(ShowStep{ui().history.front()});
    run("frames 10\nclick formation/main/tab\nframes 4\n");
    const std::string whole = fmt::format("2 rows, {} steps", ui().history.size());
    EXPECT_TRUE(until([&] { return value_of("formation/main/formation") == whole; }))
        << value_of("formation/main/formation");
}

TEST_F(LogsAlone, AttentionSaysWhyNot) {
    open_without_checkpoints();
    run("view.workspace_attention\nframes 10\n");
    EXPECT_TRUE(
        says("no checkpoint is left of this run: its stored biases can be seen, this "
             "needs whole weights"))
        << dump(ui());
    ui().commands.send(ShowStep{ui().history.front()});
    EXPECT_TRUE(says("this needs a checkpoint, none is kept")) << dump(ui());
}

}  // namespace
}  // namespace aft::app
