// What a session that ends could not save: the window says so, or the end of the program does.
#include "app/frame/unsaved_steps.h"

#include <fstream>

#include "core/check.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

TEST(UnsavedSteps, TheWordsNameRunStepsAndWhatIsSaved) {
    UnsavedSteps unsaved{.run = "runs/a", .reason = "disk full", .saved_step = 500, .step = 540};
    EXPECT_EQ(unsaved.what(),
              "runs/a: steps 501 to 540 are not saved (the newest saved step is 500)");
    unsaved.saved_step = 539;
    EXPECT_EQ(unsaved.what(), "runs/a: step 540 is not saved (the newest saved step is 539)");
    unsaved.saved_step = -1;
    EXPECT_EQ(unsaved.what(), "runs/a: steps 1 to 540 are not saved (none is)");
    EXPECT_NO_THROW(fail_if_unsaved({}));
    try {
        fail_if_unsaved(
            {unsaved, {.run = "runs/b", .reason = "no folder", .saved_step = 1, .step = 2}});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  "runs/a: steps 1 to 540 are not saved (none is): disk full\n"
                  "runs/b: step 2 is not saved (the newest saved step is 1): no folder");
    }
}

class UnsavedStepsTest : public BareTest {
  protected:
    // Trained to step 25, saved at 20.
    void open_trained() {
        make();
        open_tiny_run();
        session().run().step(25);
        ASSERT_TRUE(
            until([&] { return ui().status.step == 25 && ui().status.state == RunState::paused; }));
        EXPECT_EQ(ui().status.saved_step, 20);
    }
    void block() {
        std::filesystem::rename(folder_ / "checkpoints", folder_ / "aside");
        std::ofstream(folder_ / "checkpoints") << "no folder";
    }
    void clear_the_way() {
        std::filesystem::remove(folder_ / "checkpoints");
        std::filesystem::rename(folder_ / "aside", folder_ / "checkpoints");
    }
    void expect_unsaved(const UnsavedSteps& unsaved) {
        EXPECT_EQ(unsaved.run, folder_.string());
        EXPECT_EQ(unsaved.saved_step, 20);
        EXPECT_EQ(unsaved.step, 25);
        EXPECT_NE(unsaved.reason.find("checkpoints"), std::string::npos) << unsaved.reason;
    }
};

TEST_F(UnsavedStepsTest, AnotherModelIsOpenedAndAToastSaysWhatIsLost) {
    open_trained();
    block();
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    const auto toast = [&]() -> const Toast* {
        for (const Toast& one : ui().toasts.shown())
            if (one.title.find("steps 21 to 25") != std::string::npos) return &one;
        return nullptr;
    };
    ASSERT_TRUE(until([&] { return toast() != nullptr; }));
    EXPECT_EQ(toast()->kind, ToastKind::error);  // it stays
    EXPECT_NE(toast()->title.find(folder_.string()), std::string::npos) << toast()->title;
    EXPECT_NE(toast()->detail.find("checkpoints"), std::string::npos) << toast()->detail;
    EXPECT_TRUE(stage_->frame().end_sessions().empty());  // reported already
}

TEST_F(UnsavedStepsTest, TheOpenSessionSaysWhatItCannotSaveUntilItCan) {
    open_trained();
    block();
    for (int i = 0; i < 2; ++i) {
        const std::optional<UnsavedSteps> unsaved = stage_->frame().save_session();
        ASSERT_TRUE(unsaved.has_value());
        expect_unsaved(*unsaved);
    }
    clear_the_way();
    EXPECT_FALSE(stage_->frame().save_session().has_value());
    EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoints/step-00000025.safetensors"));
    EXPECT_TRUE(stage_->frame().end_sessions().empty());
}

TEST_F(UnsavedStepsTest, WhatWasNotToldInTheWindowIsToldAtTheEnd) {
    open_trained();
    block();
    const std::vector<UnsavedSteps> unsaved = stage_->frame().end_sessions();
    ASSERT_EQ(unsaved.size(), 1u);
    expect_unsaved(unsaved[0]);
    EXPECT_TRUE(stage_->frame().end_sessions().empty());
}

}  // namespace
}  // namespace aft::app
