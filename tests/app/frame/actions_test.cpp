// The action registry: names, sentences, shortcuts, reasons.
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/panels/rooms.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

TEST(Actions, HaveUniqueNamesAndSentences) {
    std::set<std::string> ids, names, shortcuts;
    for (const Action& action : all_actions()) {
        EXPECT_TRUE(ids.insert(action.id).second) << action.id;
        EXPECT_EQ(action.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz_."), std::string::npos);
        EXPECT_EQ(std::count(action.id.begin(), action.id.end(), '.'), 1) << action.id;
        EXPECT_TRUE(names.insert(action.name).second) << action.name;
        EXPECT_GE(action.sentence.size(), 10u) << action.name;
        EXPECT_TRUE(action.sentence.ends_with('.')) << action.name << ": " << action.sentence;
        if (!action.shortcut.empty()) {
            EXPECT_NE(key_chord(action.shortcut), 0) << action.name;
            EXPECT_TRUE(shortcuts.insert(action.shortcut).second)
                << action.name << " shares " << action.shortcut;
        }
    }
    EXPECT_GT(names.size(), 40u);
}

TEST(Actions, CoverTheKeysOfTheWorkbench) {
    std::map<std::string, std::string> action_of;
    for (const Action& action : all_actions()) action_of[action.shortcut] = action.id;
    const std::pair<const char*, const char*> keys[] = {{"Space", "run.toggle"},
                                                        {".", "run.step"},
                                                        {"Shift+.", "run.step_many"},
                                                        {"[", "selection.previous_layer"},
                                                        {"]", "selection.next_layer"},
                                                        {"{", "selection.previous_head"},
                                                        {"}", "selection.next_head"},
                                                        {"Left", "time.back"},
                                                        {"Right", "time.forward"},
                                                        {"Ctrl+Left", "time.back_always"},
                                                        {"Ctrl+Right", "time.forward_always"},
                                                        {"Home", "time.first"},
                                                        {"End", "time.live"},
                                                        {"N", "map.next_range_rule"},
                                                        {"L", "map.switch_scale"},
                                                        {"G", "map.switch_gauge"},
                                                        {"Q", "map.next_quantity"},
                                                        {"R", "map.fit_range"},
                                                        {"D", "map.difference_to_pin"},
                                                        {"P", "selection.pin"},
                                                        {"M", "view.atlas_or_focus"},
                                                        {"B", "mask.brush"},
                                                        {"E", "mask.eraser"},
                                                        {"Ctrl+Enter", "complete.start"},
                                                        {"Esc", "selection.unlock"},
                                                        {"Ctrl+Shift+P", "view.command_palette"},
                                                        {"Ctrl+Z", "edit.undo"},
                                                        {"Ctrl+Y", "edit.redo"},
                                                        {"Ctrl+S", "run.save"},
                                                        {"Ctrl+O", "file.open"},
                                                        {"Ctrl+E", "file.save_view"},
                                                        {"1", "view.workspace_home"},
                                                        {"2", "view.workspace_train"},
                                                        {"3", "view.workspace_biases"},
                                                        {"4", "view.workspace_attention"},
                                                        {"5", "view.workspace_complete"},
                                                        {"6", "view.workspace_compare"},
                                                        {"7", "view.workspace_lab"},
                                                        {"Tab", "view.side_panes"},
                                                        {"F1", "help.keys"},
                                                        {"Ctrl+0", "view.zoom_reset"},
                                                        {"Ctrl+=", "view.zoom_in"},
                                                        {"Ctrl+-", "view.zoom_out"}};
    for (const auto& [key, id] : keys) EXPECT_EQ(action_of[key], id) << key;
}

TEST(Actions, KeyChordsAreUnderstood) {
    EXPECT_EQ(key_chord("Ctrl+Shift+P"), ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    EXPECT_EQ(key_chord("{"), ImGuiMod_Shift | ImGuiKey_LeftBracket);
    EXPECT_EQ(key_chord("F1"), ImGuiKey_F1);
    EXPECT_EQ(key_chord("Shift+."), ImGuiMod_Shift | ImGuiKey_Period);
    EXPECT_EQ(key_chord("Hyper+Q"), 0);
    EXPECT_EQ(key_chord(""), 0);
    EXPECT_EQ(key_chord("Ctrl"), 0);
    EXPECT_EQ(shortcut_words("Ctrl+Shift+P"), "Ctrl Shift P");
}

TEST(Panels, AreUniqueAndExplained) {
    std::set<std::string> names;
    for (const PanelRoom& room : panels()) {
        EXPECT_TRUE(names.insert(room.info.name).second) << room.info.name;
        EXPECT_FALSE(room.info.sentence.empty()) << room.info.name;
        EXPECT_GE(room.help.size(), 30u) << room.info.name;
        EXPECT_FALSE(room.places.empty()) << room.info.name;
        EXPECT_NE(room.icon, nullptr);
        EXPECT_NE(room.make(), nullptr);
    }
}

using ActionsBare = BareTest;

TEST_F(ActionsBare, DisabledActionSaysWhy) {
    make();
    EXPECT_EQ(ui().actions.why_not(ui(), "run.step"), "No run is open.");
    EXPECT_FALSE(ui().actions.run(ui(), "run.step"));
    ASSERT_FALSE(ui().toasts.shown().empty());
    EXPECT_EQ(ui().toasts.shown().back().detail, "No run is open.");
    EXPECT_THROW(ui().actions.run(ui(), "Dance"), Error);
}

TEST_F(ActionsBare, CodeFindsThemByIdAndScriptsByNameToo) {
    make();
    const Actions& actions = ui().actions;
    ASSERT_NE(actions.find("view.theme_light"), nullptr);
    EXPECT_EQ(actions.find("Theme light"), nullptr);
    EXPECT_EQ(actions.find_named("theme LIGHT"), actions.find("view.theme_light"));
    EXPECT_EQ(actions.find_named("view.theme_light"), actions.find("view.theme_light"));
    run("view.theme_light\n");
    EXPECT_EQ(ui().settings.theme, ThemeName::light);
    run("Theme dark\n");
    EXPECT_EQ(ui().settings.theme, ThemeName::dark);
}

TEST_F(ActionsBare, ControlsAreFoundByTheActionTheyRun) {
    make();
    run("view.workspace_train\nframes 3\n");
    const WidgetRecord* const button = ui().recorder.find("file.new_run");
    ASSERT_NE(button, nullptr);
    EXPECT_EQ(button->kind, "button");
    EXPECT_EQ(button->action, "file.new_run");
    run("click file.new_run\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::home);
}

TEST_F(ActionsBare, KeysRunActions) {
    make();
    run("key 3\n");
    EXPECT_EQ(ui().workspace, Workspace::biases);
    run("key Ctrl+Shift+P\nframes 2\n");
    EXPECT_TRUE(is_there("palette/main/search"));
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_there("palette/main/search"));
    run("key F1\nframes 2\n");
    EXPECT_TRUE(is_there("shortcuts/keys/view.command_palette"));
}

TEST_F(ActionsBare, PaletteFindsAndRuns) {
    make();
    run("view.command_palette\nset palette/main/search light\nframes 3\n");
    EXPECT_TRUE(is_there("palette/main/view.theme_light"));
    run("click palette/main/view.theme_light\n");
    EXPECT_EQ(ui().settings.theme, ThemeName::light);
    EXPECT_FALSE(is_there("palette/main/search"));
}

TEST_F(ActionsBare, PaletteFiltersWhatAScriptSets) {
    make();
    run("key Ctrl+Shift+P\nframes 3\n");
    ASSERT_TRUE(is_there("palette/main/file.quit"));
    run("set palette/main/search range\nframes 4\n");
    EXPECT_EQ(value_of("palette/main/search"), "range");
    EXPECT_TRUE(is_there("palette/main/map.fit_range"));
    EXPECT_FALSE(is_there("palette/main/file.quit"));
    run("set palette/main/search theme\nframes 4\n");  // also a second time
    EXPECT_TRUE(is_there("palette/main/view.next_theme"));
    EXPECT_FALSE(is_there("palette/main/map.fit_range"));
}

TEST_F(ActionsBare, ClickOutsideClosesPaletteAndKeys) {
    make();
    const auto click = [&](float x, float y) {
        ImGui::GetIO().AddMousePosEvent(x, y);
        steps(2);
        ImGui::GetIO().AddMouseButtonEvent(0, true);
        steps(2);
        ImGui::GetIO().AddMouseButtonEvent(0, false);
        steps(2);
    };
    run("key Ctrl+Shift+P\nframes 3\n");
    click(800, 545);  // its foot: it stays
    EXPECT_TRUE(is_there("palette/main/search"));
    const Workspace before = ui().workspace;
    click(60, 700);
    EXPECT_FALSE(is_there("palette/main/search"));
    run("key F1\nframes 3\n");
    EXPECT_TRUE(is_there("shortcuts/keys/file.quit"));
    click(60, 700);
    EXPECT_FALSE(is_there("shortcuts/keys/file.quit"));
    EXPECT_EQ(ui().workspace, before);
}

}  // namespace
}  // namespace aft::app
