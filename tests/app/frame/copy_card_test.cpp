// "Save elsewhere...": what is in memory outlives the run folder, and nothing is offered that needs
// the folder while it is gone.
#include <optional>

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
    run("click run/run/primary\nframes 3\nset copy_card/main/file " + file.string() +
        "\nframes 2\n");
    EXPECT_NE(ui().recorder.find("copy_card/main/save")->why_not.find("another name"),
              std::string::npos);
    run("key Escape\nframes 2\n");
    fs::rename(aside_, folder_);
    EXPECT_TRUE(until([&] { return ui().actions.why_not(ui(), "run.save").empty(); }))
        << "put back";
    stage_->frame().open(file.string());
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_EQ(ui().status.step, step);
    EXPECT_EQ(ui().status.error, "");
    EXPECT_TRUE(ui().status.can_train);
}

// What is said of it is the answer to this copy: not that to one before, and nothing that came in
// between hides it.
class CopyAnswers : public CopyCards {
  protected:
    // A window whose status is held where it is while `held_` has one.
    void open() {
        initialize_model("cpu", 1);
        FrameOptions options;
        options.feed = [this](Ui& now) {
            if (now.session == nullptr) return;
            now.status = held_ ? *held_ : now.session->status();
        };
        make(options);
        open_tiny_run(4);
        run("view.workspace_train\nrun.step\nframes 3\n");
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
    }
    void save() {
        run("run.save_copy\nframes 3\nset copy_card/main/file " + file_.string() +
            "\nframes 2\nclick copy_card/main/save\n");
    }
    size_t toasts() { return ui().toasts.history().size(); }
    bool is_said(size_t before) {
        return until([&] { return toasts() > before; });
    }

    std::optional<Status> held_;
    fs::path file_ = scratch_ / "copy.safetensors";
};

TEST_F(CopyAnswers, AreThoseOfThisCopy) {
    open();
    size_t before = toasts();
    save();
    ASSERT_TRUE(is_said(before));
    EXPECT_EQ(ui().toasts.history().back().title, "Copy saved");
    fs::remove(file_);
    held_ = ui().status;  // with the answer to the copy before
    before = toasts();
    save();
    steps(300);  // seconds of the window's clock
    EXPECT_EQ(toasts(), before) << "nothing is known yet: " << ui().toasts.history().back().title;
    held_.reset();
    ASSERT_TRUE(is_said(before));
    EXPECT_EQ(ui().toasts.history().back().title, "Copy saved");
    EXPECT_TRUE(fs::exists(file_));
}

TEST_F(CopyAnswers, ComeThroughWhatTheSessionSaysLater) {
    open();
    const size_t before = toasts();
    held_ = ui().status;
    save();
    steps(2);
    ASSERT_TRUE(until([&] { return fs::exists(file_); }));
    session().run().set("train.clip", "nonsense");  // refused in words of its own
    ASSERT_TRUE(until(
        [&] { return ui().session->status().message.find("nonsense") != std::string::npos; }));
    held_.reset();
    ASSERT_TRUE(is_said(before));
    EXPECT_EQ(ui().toasts.history().back().title, "Copy saved");
}

TEST_F(CopyAnswers, EndWithTheirRun) {
    open();
    const size_t before = toasts();
    held_ = ui().status;
    save();
    steps(2);
    ui().commands.send(CloseModel{});
    ASSERT_TRUE(is_said(before));
    EXPECT_NE(ui().toasts.history().back().detail.find("was closed"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
