// Speech: what the keyboard stands on reaches a command as lines of text.
#include "app/host/speech.h"

#include <gtest/gtest.h>

#include <signal.h>

#include <cerrno>
#include <cstdlib>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class SpeechTest : public BareTest {
  protected:
    static void set_command(const std::string& command) {
        ::setenv("AFTERIMAGE_SPEAK", command.c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("AFTERIMAGE_SPEAK");
        BareTest::TearDown();
    }
    // Draws and follows until the file has the words.
    bool is_said(Speech& speech, const fs::path& file, const std::string& words) {
        return until([&] {
            speech.follow(ui());
            return fs::exists(file) && read_file(file).find(words) != std::string::npos;
        });
    }
};

TEST(SpokenWords, HaveNameKindValueAndTheReason) {
    WidgetRecord widget;
    widget.kind = "field";
    widget.path.label = "pane/section/Target step";
    widget.value = "60";
    EXPECT_EQ(spoken_words(widget), "Target step, field, 60");
    widget.value = "";
    widget.why_not = "nothing is open\n";
    EXPECT_EQ(spoken_words(widget).find('\n'), std::string::npos);
    EXPECT_TRUE(spoken_words(widget).starts_with("Target step, field, not now: nothing is open"));
}

TEST_F(SpeechTest, SaysWhereTheKeyboardIsAndWhatComesUp) {
    make();
    const fs::path file = scratch_ / "said.txt";
    set_command("cat > '" + file.string() + "'");
    Speech speech;
    EXPECT_TRUE(is_said(speech, file, "Home, workspace\n"));
    run("key Ctrl+Tab\nframes 3\n");
    EXPECT_TRUE(is_said(speech, file, "File, menu\n")) << read_file(file);
    ui().toasts.add({.kind = ToastKind::done, .title = "Figure saved", .detail = "a.png"});
    EXPECT_TRUE(is_said(speech, file, "Figure saved a.png\n"));
    run("view.workspace_lab\nframes 2\n");
    EXPECT_TRUE(is_said(speech, file, "Lab, workspace\n"));
}

TEST_F(SpeechTest, ACommandThatEndsOrDoesNotReadHoldsNothingUpAndIsGoneAfterwards) {
    make();
    const fs::path file = scratch_ / "process";
    for (const char* command :
         {"exit 3", "/no/such/program", "echo $$ > process; exec sleep 1000"}) {
        set_command("cd '" + scratch_.path().string() + "'; " + command);
        Speech speech;
        for (int i = 0; i < 3000; ++i) {
            ui().workspace = i % 2 == 0 ? Workspace::home : Workspace::lab;
            speech.follow(ui());
        }
        if (std::string(command).find("echo") == std::string::npos) continue;
        ASSERT_TRUE(until([&] { return fs::exists(file) && !read_file(file).empty(); }));
    }
    const pid_t process = std::stoi(read_file(file));
    EXPECT_EQ(::kill(process, 0), -1) << "it is gone";
    EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace aft::app
