// Named layouts: kept under a name, put back, forgotten, there at the next start.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class NamedLayouts : public BareTest {
  protected:
    void SetUp() override {
        open_mirror();
        run("view.workspace_biases\nframes 5\n");
    }
    void keep(const std::string& name) {
        run("view.layouts\nframes 3\nset layout_card/answer/name " + name +
            "\nframes 2\nclick layout_card/answer/save\nframes 4\n");
    }
    [[nodiscard]] float width_of_inspector() {
        const WidgetRecord* tab = ui().recorder.find("inspector/main/tab");
        const ImGuiWindow* window = nullptr;
        for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
            if (one->WasActive && std::string(one->Name).find("Inspector###") == 0) window = one;
        EXPECT_TRUE(tab != nullptr && window != nullptr);
        return window == nullptr ? 0 : window->Size.x;
    }
    // Drags the border between canvas and Inspector to the left.
    void widen_inspector() {
        const WidgetRecord* tab = ui().recorder.find("inspector/main/tab");
        ASSERT_NE(tab, nullptr);
        float left = 1600;
        for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
            if (one->WasActive && std::string(one->Name).find("Inspector###") == 0)
                left = one->Pos.x;
        ImGuiIO& io = ImGui::GetIO();
        io.AddMousePosEvent(left - 1, 500);
        steps(3);
        io.AddMouseButtonEvent(0, true);
        steps(2);
        io.AddMousePosEvent(left - 101, 500);
        steps(3);
        io.AddMouseButtonEvent(0, false);
        steps(3);
    }
};

TEST_F(NamedLayouts, AFreeNameIsProposed) {
    const auto proposed = [this] {
        run("view.layouts\nframes 3\n");
        return value_of("layout_card/answer/name");
    };
    EXPECT_EQ(proposed(), "Layout 1");
    run("click layout_card/answer/save\nframes 4\n");
    EXPECT_EQ(proposed(), "Layout 2");
    EXPECT_TRUE(ui().settings.layouts.contains("Layout 1"));
}

TEST_F(NamedLayouts, PutThePanesBack) {
    const float before = width_of_inspector();
    keep("narrow");
    widen_inspector();
    const float wide = width_of_inspector();
    ASSERT_GT(wide, before + 50);
    keep("wide");
    run("view.layouts\nframes 3\nclick layout_card/layouts/narrow\nframes 6\n");
    EXPECT_NEAR(width_of_inspector(), before, 2);
    run("view.layouts\nframes 3\nclick layout_card/layouts/wide\nframes 6\n");
    EXPECT_NEAR(width_of_inspector(), wide, 2);
    run("view.layouts\nframes 3\nclick layout_card/layouts/forget_wide\nframes 3\n");
    EXPECT_FALSE(is_there("layout_card/layouts/wide"));
    EXPECT_EQ(ui().settings.layouts.size(), 1U);
}

TEST_F(NamedLayouts, AreThereAtTheNextStart) {
    keep("mine");
    const fs::path file = scratch_ / "window.json";
    save_user_settings(file, ui().settings);
    std::string problem;
    const UserSettings again = load_user_settings(file, problem);
    EXPECT_EQ(problem, "");
    EXPECT_EQ(again.layouts.at("mine").text, ui().settings.layouts.at("mine").text);
    EXPECT_EQ(again.layouts.at("mine").scale, 1);
}

TEST_F(NamedLayouts, NeedAName) {
    run("view.layouts\nframes 3\nclick layout_card/answer/name\nkey Ctrl+A\nkey Delete\nframes "
        "3\n");
    EXPECT_EQ(ui().recorder.find("layout_card/answer/save")->why_not, "Type a name for it.");
    run("set layout_card/answer/name " + std::string(80, 'x') + "\nframes 3\n");
    EXPECT_NE(ui().recorder.find("layout_card/answer/save")->why_not.find("60"), std::string::npos);
}

// A pane whose tab is hidden has nothing in the Inspector.
TEST_F(BareTest, TheInspectorTellsOfThePaneInFront) {
    open_mirror();
    run("view.workspace_biases\nframes 5\nclick atlas/main/tab\nframes 20\n");
    EXPECT_TRUE(until([&] { return is_there("inspector/range/colour_bar"); })) << dump(ui());
    run("click statistics/main/tab\nframes 20\n");
    EXPECT_TRUE(until([&] { return is_there("inspector/selection/minimum"); })) << dump(ui());
    EXPECT_FALSE(is_there("inspector/range/colour_bar"));
}

}  // namespace
}  // namespace aft::app
