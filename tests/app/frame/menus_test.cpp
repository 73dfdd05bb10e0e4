// Menus and lists that stand open: Esc, the pointer alone, and a click on another title.
#include <fstream>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Menus : public BareTest {
  protected:
    void SetUp() override {
        make(fed(feed_small));
        run("view.workspace_train\nframes 3\n");
    }
    void point(const std::string& label) {
        const WidgetRecord* const w = ui().recorder.find(label);
        ASSERT_NE(w, nullptr) << label;
        ImGui::GetIO().AddMousePosEvent((w->min.x + w->max.x) / 2, (w->min.y + w->max.y) / 2);
    }
    void button(bool down) {
        ImGui::GetIO().AddMouseButtonEvent(0, down);
        steps(1);
    }
    static bool is_open() {
        return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    }
};

constexpr const char* kOfRun = "top_bar/menu/run.step";
constexpr const char* kOfHelp = "top_bar/menu/help.keys";

TEST_F(Menus, EscClosesWhatIsOpenAndNothingElse) {
    ui().selection.lock({.layer = 1});
    run("click \"top_bar/menu/run\"\nframes 2\n");
    ASSERT_TRUE(is_there(kOfRun));
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_there(kOfRun));
    EXPECT_TRUE(ui().selection.locked) << "the first Esc was the menu's";
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(ui().selection.locked);
    run("click timeline/transport/speed\nframes 2\n");
    ASSERT_TRUE(is_open());
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_open());
}

TEST_F(Menus, ThePointerChangesFromMenuToMenu) {
    point("top_bar/menu/help");
    steps(3);
    EXPECT_FALSE(is_there(kOfHelp)) << "not before one is open";
    run("click \"top_bar/menu/run\"\nframes 2\n");
    ASSERT_TRUE(is_there(kOfRun));
    point("top_bar/menu/help");
    steps(3);
    EXPECT_TRUE(is_there(kOfHelp));
    EXPECT_FALSE(is_there(kOfRun));
}

TEST_F(Menus, OneClickOnAnotherTitleOpensIt) {
    run("click \"top_bar/menu/run\"\nframes 2\n");
    ASSERT_TRUE(is_there(kOfRun));
    point("top_bar/menu/help");
    button(true);
    button(false);
    steps(2);
    EXPECT_TRUE(is_there(kOfHelp));
    steps(60);  // a second later the same click closes it
    button(true);
    button(false);
    steps(3);
    EXPECT_FALSE(is_there(kOfHelp));
}

TEST_F(Menus, FileBeginsWithNewRunAndEndsWithQuit) {
    run("click \"top_bar/menu/file\"\nframes 2\n");
    const WidgetRecord* const first = ui().recorder.find("top_bar/menu/file.new_run");
    const WidgetRecord* const second = ui().recorder.find("top_bar/menu/file.open");
    const WidgetRecord* const data = ui().recorder.find("top_bar/menu/file.choose_data");
    const WidgetRecord* const last = ui().recorder.find("top_bar/menu/file.quit");
    ASSERT_TRUE(first != nullptr && second != nullptr && last != nullptr && data != nullptr);
    EXPECT_LT(first->min.y, second->min.y);
    EXPECT_LT(second->min.y, data->min.y);
    EXPECT_LT(data->min.y, last->min.y);
}

TEST_F(Menus, TheBellShowsTheLogAtOnce) {
    run("view.workspace_home\nframes 4\nclick \"top_bar/tools/messages\"\nframes 6\n");
    EXPECT_EQ(ui().workspace, Workspace::train);
    EXPECT_EQ(value_of("log/main/tab"), "shown");
}

TEST_F(Menus, TheLogIsFiltered) {
    ui().say("info", "one horse");
    ui().say("info", "one deer");
    run("view.workspace_train\nframes 4\nclick log/main/tab\nframes 4\n");
    const std::string all = std::to_string(ui().log.size());
    EXPECT_EQ(value_of("log/main/lines"), all + " of " + all);
    run("set log/main/filter horse\nframes 3\n");
    EXPECT_EQ(value_of("log/main/lines"), "1 of " + all);
}

TEST_F(Menus, TheLogShowsTheLogOfTheRunThatIsOpened) {
    make();
    open_trained_run(20);
    std::ofstream(folder_ / "log.txt", std::ios::app) << "2026-01-01T00:00:00Z a \x1b[31mdeer\n";
    make();
    stage_->frame().open(folder_.string());
    run("frames 2\nwait Ready\nview.workspace_train\nframes 4\nclick log/main/tab\nframes 4\n");
    const auto says = [this](const char* words) {
        return value_of("log/main/run_lines").find(words) != std::string::npos;
    };
    EXPECT_TRUE(until([&] { return says("a \\x1b[31mdeer"); })) << value_of("log/main/run_lines");
    EXPECT_FALSE(value_of("log/main/run_lines").starts_with("1 of "));
    run("set log/main/filter started\nframes 3\n");
    EXPECT_TRUE(value_of("log/main/run_lines").starts_with("1 of ")) << "the first line";
    EXPECT_TRUE(says("started"));
}

// One line for each save, in words; also of a log that an earlier version has written.
TEST_F(Menus, TheLogOfTheRunIsInWords) {
    make();
    open_trained_run(20);
    std::ofstream(folder_ / "log.txt", std::ios::app)
        << "2026-01-01T00:00:00Z step 3 setting: {\"text\":\"train.clip 1\"}\n"
        << "2026-01-01T00:00:00Z step 4 save: {\"text\":\"\"}\n";
    make();
    stage_->frame().open(folder_.string());
    run("frames 2\nwait Ready\nview.workspace_train\nframes 4\nclick log/main/tab\nframes 4\n");
    const auto lines = [this] { return value_of("log/main/run_lines"); };
    EXPECT_TRUE(until([&] {
        return lines().find("step 3 setting: train.clip 1") != std::string::npos;
    })) << lines();
    run("set log/main/filter {\nframes 3\n");
    EXPECT_TRUE(lines().starts_with("0 of ")) << lines();
    run("set log/main/filter save\nframes 3\n");
    EXPECT_TRUE(lines().starts_with("1 of ")) << "its last step: " << lines();
}

TEST_F(Menus, TheKeysStandBeforeWhatThePanesShow) {
    run("view.workspace_biases\nframes 4\nhelp.keys\nframes 4\n");
    int in_view = 0;
    for (const WidgetRecord& widget : ui().recorder.last())
        if (widget.path.id.starts_with("shortcuts/keys/") && widget.kind == "row" &&
            widget.visible && widget.max.y < 960)
            ++in_view;
    EXPECT_GE(in_view, 25);
}

TEST_F(Menus, TheOpenCardTakesTheKeyboardIntoItsPath) {
    run("file.open\nframes 4\n");
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    for (const char c : std::string("/no/where")) ImGui::GetIO().AddInputCharacter(unsigned(c));
    steps(3);
    EXPECT_EQ(value_of("file_browser/where/path"), "/no/where");
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(is_there("file_browser/where/path"));
}

}  // namespace
}  // namespace aft::app
