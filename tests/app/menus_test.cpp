// Menus and lists that stand open: Esc, the pointer alone, and a click on another title.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Menus : public BareTest {
  protected:
    void SetUp() override {
        make(fed(feed_small));
        run("workspace Train\nframes 3\n");
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

constexpr const char* kOfRun = "Top bar/Menu/One step";

TEST_F(Menus, EscClosesWhatIsOpenAndNothingElse) {
    ui().selection.lock({.layer = 1});
    run("click \"Top bar/Menu/Run\"\nframes 2\n");
    ASSERT_TRUE(is_there(kOfRun));
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_there(kOfRun));
    EXPECT_TRUE(ui().selection.locked) << "the first Esc was the menu's";
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(ui().selection.locked);
    run("click Timeline/Transport/Speed\nframes 2\n");
    ASSERT_TRUE(is_open());
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_open());
}

TEST_F(Menus, TheBellShowsTheLogAtOnce) {
    run("workspace Home\nframes 4\nclick \"Top bar/Tools/Messages\"\nframes 6\n");
    EXPECT_EQ(ui().workspace, Workspace::train);
    EXPECT_EQ(value_of("Log/Main/Tab"), "shown");
}

TEST_F(Menus, TheOpenCardTakesTheKeyboardIntoItsPath) {
    run("Open...\nframes 4\n");
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    for (const char c : std::string("/no/where")) ImGui::GetIO().AddInputCharacter(unsigned(c));
    steps(3);
    EXPECT_EQ(value_of("Open/Where/Path"), "/no/where");
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(is_there("Open/Where/Path"));
}

}  // namespace
}  // namespace aft::app
