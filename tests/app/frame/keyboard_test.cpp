// The window by keyboard alone: Ctrl+Tab from pane to pane, arrows and Space inside, Esc out; and
// the keys of actions as ever where no control has the visible focus.
#include <imgui_internal.h>

#include <set>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Keyboard : public BareTest {
  protected:
    void SetUp() override {
        make(fed(feed_small));
        run("view.workspace_train\nframes 10\n");
    }
    // The control with the visible focus; "" = none.
    std::string focused() {
        const ImGuiContext& g = *ImGui::GetCurrentContext();
        if (!g.IO.NavVisible || g.NavId == 0) return "";
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.item == g.NavId) return w.path.id;
        return "";
    }
    // Ctrl+Tab until it stands in this pane.
    bool walk_to(const std::string& pane) {
        for (int i = 0; i < 12 && !focused().starts_with(pane + "/"); ++i)
            run("key Ctrl+Tab\nframes 3\n");
        return focused().starts_with(pane + "/");
    }
};

TEST_F(Keyboard, CtrlTabWalksThroughAllPanesAndBack) {
    EXPECT_EQ(focused(), "") << "only after keyboard use";
    std::set<std::string> panes;
    std::vector<std::string> way;
    for (int i = 0; i < 12; ++i) {
        run("key Ctrl+Tab\nframes 3\n");
        way.push_back(focused());
        panes.insert(way.back().substr(0, way.back().find('/')));
    }
    for (const char* const pane : {"top_bar", "run", "curves", "controls", "timeline"})
        EXPECT_TRUE(panes.contains(pane)) << pane;
    run("key Ctrl+Shift+Tab\nframes 3\n");
    EXPECT_EQ(focused(), way[10]);
}

TEST_F(Keyboard, ArrowsScrubUntilAControlHasTheFocus) {
    run("key Left\nframes 2\n");
    EXPECT_EQ(ui().selection.step, 20);
    run("key Left\nframes 2\n");
    EXPECT_EQ(ui().selection.step, 0) << "the first arrow has not taken the keyboard away";
    EXPECT_EQ(focused(), "");
    ASSERT_TRUE(walk_to("controls"));
    const std::string first = focused();
    run("key Down\nframes 3\n");
    EXPECT_TRUE(focused().starts_with("controls/")) << focused();
    EXPECT_NE(focused(), first);
    run("key Right\nframes 3\n");
    EXPECT_EQ(ui().selection.step, 0) << "arrows belong to the pane now";
    run("key Ctrl+Right\nframes 3\n");
    EXPECT_EQ(ui().selection.step, 20) << "these always scrub";
}

TEST_F(Keyboard, ATextFieldKeepsItsOwnKeysAlone) {
    ui().settings.remember({.path = scratch_ / "run", .name = "run", .what = "", .opened = 1});
    run("view.workspace_train\nframes 4\nclick explorer/main/filter\nframes 3\n");
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    const int64_t live = ui().shown_step();
    run("key Left\nframes 2\nkey 2\nframes 2\n");
    EXPECT_EQ(ui().shown_step(), live);
    EXPECT_EQ(ui().workspace, Workspace::train);
    run("key Ctrl+Left\nframes 3\n");
    EXPECT_LT(ui().shown_step(), live) << "these always scrub";
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    run("key F1\nframes 3\n");
    EXPECT_TRUE(is_there("shortcuts/keys/view.command_palette"));
}

TEST_F(Keyboard, EscLeavesTheControlBeforeItUnlocks) {
    ui().selection.lock({.layer = 1});
    ASSERT_TRUE(walk_to("controls"));
    run("key Esc\nframes 3\n");
    EXPECT_EQ(focused(), "");
    EXPECT_TRUE(ui().selection.locked);
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(ui().selection.locked);
}

TEST_F(Keyboard, SpaceOpensAMenuAndArrowsWalkInIt) {
    ASSERT_TRUE(walk_to("top_bar"));
    run("key Space\nframes 4\n");
    ASSERT_TRUE(is_there("top_bar/menu/file.new_run"));
    run("key Down\nframes 3\n");
    EXPECT_TRUE(focused().starts_with("top_bar/menu/")) << focused();
    run("key Esc\nframes 3\n");
    EXPECT_FALSE(is_there("top_bar/menu/file.new_run"));
}

TEST_F(Keyboard, TheFocusRingIsDrawnInTheAccent) {
    EXPECT_EQ(ImGui::GetColorU32(ImGuiCol_NavCursor), ui().theme.accent);
}

TEST_F(Keyboard, ThePaletteKeepsItsSearchWhileArrowsChoose) {
    run("key Ctrl+Shift+P\nframes 3\nkey Down\nframes 2\nkey Down\nframes 2\nkey Up\nframes 2\n");
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    EXPECT_TRUE(is_there("palette/main/search"));
}

}  // namespace
}  // namespace aft::app
