// "Save elsewhere...": what is in memory outlives the run folder, and nothing is offered that needs
// the folder while it is gone.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class CopyCards : public BareTest {
  protected:
    // A run that is paused with steps in memory, and whose folder is then gone.
    void lose_the_folder() {
        open_trained_run();
        run("view.workspace_train\nrun.step\nframes 3\n");
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
        fs::rename(folder_, aside_ = scratch_ / "aside");
        run("run.step\nframes 3\n");
        ASSERT_TRUE(until([&] { return !ui().status.error.empty(); }));
        steps(3);
    }
    fs::path aside_;
};

TEST_F(CopyCards, AFolderThatIsGoneLeavesWhatIsInMemoryToBeSaved) {
    lose_the_folder();
    const int64_t step = ui().status.step;
    for (const char* const action : {"run.toggle", "run.step", "run.save", "run.rewind_saved"})
        EXPECT_NE(ui().actions.why_not(ui(), action).find("is gone"), std::string::npos) << action;
    const WidgetRecord* const primary = ui().recorder.find("run/run/primary");
    ASSERT_NE(primary, nullptr);
    EXPECT_EQ(primary->action, "run.save_copy");
    EXPECT_EQ(primary->why_not, "");
    EXPECT_TRUE(is_there("curves/main/run.save_copy")) << dump(ui());
    EXPECT_FALSE(is_there("curves/main/run.save"));
    const fs::path file = scratch_ / "elsewhere/copy.safetensors";
    const auto save = [&] {
        const size_t before = ui().toasts.history().size();
        run("click run/run/primary\nframes 3\nset copy_card/main/file " + file.string() +
            "\nframes 2\nclick copy_card/main/save\nframes 2\n");
        EXPECT_TRUE(until([&] { return ui().toasts.history().size() > before; }));
        return ui().toasts.history().back().title;
    };
    EXPECT_EQ(save(), "Copy saved");
    EXPECT_EQ(save(), "Copy not saved") << "it is there already";
    EXPECT_NE(ui().toasts.history().back().detail.find("another name"), std::string::npos);
    fs::rename(aside_, folder_);
    EXPECT_EQ(ui().actions.why_not(ui(), "run.save"), "") << "put back";
    stage_->frame().open(file.string());
    run("frames 2\nwait Ready 60\nframes 3\n");
    EXPECT_EQ(ui().status.step, step);
    EXPECT_EQ(ui().status.error, "");
    EXPECT_TRUE(ui().status.can_train);
}

}  // namespace
}  // namespace aft::app
