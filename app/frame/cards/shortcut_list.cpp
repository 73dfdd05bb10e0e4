#include "app/frame/cards/shortcut_list.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "core/outside.h"

namespace aft::app {

namespace {

// What was pressed in this frame with its modifiers; 0 = no key, or one of them.
int pressed_chord() {
    for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key) {
        const auto name = static_cast<ImGuiKey>(key);
        const bool is_modifier = key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper;
        if (ImGui::IsKeyboardKey(name) && !is_modifier && ImGui::IsKeyPressed(name, false))
            return key | mods_at_press(name);
    }
    return 0;
}

}  // namespace

void ShortcutList::toggle() {
    is_open_ = !is_open_;
    changed_.clear();
    problem_.clear();
}

void ShortcutList::take_settings(Ui& ui) {
    for (const Action& action : ui.actions.all()) standard_[action.id] = action.shortcut;
    for (const auto& [id, shortcut] : ui.settings.keys)  // they may have changed places
        (void)ui.actions.set_shortcut(id, "");
    for (const auto& [id, shortcut] : ui.settings.keys) {
        const std::string problem = ui.actions.set_shortcut(id, shortcut);
        if (problem.empty()) continue;
        (void)ui.actions.set_shortcut(id, standard_[id]);
        ui.say("warning", fmt::format("keys of {}: {}", printable_line(id), problem));
    }
}

void ShortcutList::set(Ui& ui, const std::string& id, const std::string& shortcut) {
    problem_ = ui.actions.set_shortcut(id, shortcut);
    if (!problem_.empty()) return;
    if (shortcut == standard_[id])
        ui.settings.keys.erase(id);
    else
        ui.settings.keys[id] = shortcut;
    ImGui::MarkIniSettingsDirty();  // the user's settings are written with the layout
}

void ShortcutList::take_keys(Ui& ui) {
    const int chord = pressed_chord();
    if (chord == 0) return;
    const std::string id = std::exchange(changed_, {});
    problem_.clear();
    if (chord == key_chord(standard_[id])) return set(ui, id, standard_[id]);
    if (chord == ImGuiKey_Escape) return;
    if (chord == ImGuiKey_Backspace) return set(ui, id, "");
    const std::string shortcut = chord_text(chord);
    if (shortcut.empty())
        problem_ = "this key has no name here; letters, digits, F1 to F9, arrows and signs have";
    else
        set(ui, id, shortcut);
}

void ShortcutList::draw_tools(Ui& ui) {
    section(ui, "Keys##keys", {}, false);
    const Choice shown[] = {{.text = "With keys##with_keys"}, {.text = "All actions##all"}};
    (void)segmented(ui, "Show##show", shown_,
                    {.list = shown, .tip = "All: those that have no keys yet, too."});
    ImGui::SameLine(0, ui.px(12));
    if (button(ui, {.name = "Standard keys##standard_keys",
                    .icon = icon::undo,
                    .why_not = ui.settings.keys.empty() ? "All keys are the standard ones." : "",
                    .tip = "Every action gets its own keys again."})) {
        ui.settings.keys.clear();
        for (const auto& [id, keys] : standard_) (void)ui.actions.set_shortcut(id, "");
        for (const auto& [id, keys] : standard_) (void)ui.actions.set_shortcut(id, keys);
        problem_.clear();
        ImGui::MarkIniSettingsDirty();
    }
    if (problem_.empty()) return;
    draw_problem(ui, problem_);
}

void ShortcutList::draw_row(Ui& ui, const Action& action) {
    const ImVec2 at = ImGui::GetCursorPos();
    ImGui::SetNextItemAllowOverlap();  // by the button at its right
    const Row line = row(ui, {action.name, action.id}, {26, false, action.shortcut});
    ui.recorder.runs_action(action.id);
    const float middle = (line.min.y + line.max.y) / 2, right = line.max.x - ui.px(34);
    text_at(ui, {line.min.x + ui.px(4), middle - ui.px(text_size::label) / 2}, action.name,
            {text_size::label, ui.theme.text1});
    text_at(ui, {line.min.x + ui.px(230), middle - ui.px(text_size::hint) / 2}, action.sentence,
            {text_size::hint, ui.theme.text3, Face::regular, right - line.min.x - ui.px(340)});
    if (changed_ == action.id)
        text_right(ui, {right, middle - ui.px(text_size::hint) / 2},
                   "press its keys; Esc: none, Backspace: no keys",
                   {text_size::hint, ui.theme.accent});
    else if (!action.shortcut.empty())
        draw_keys(ui, right, middle, action.shortcut);
    const ImVec2 after = ImGui::GetCursorPos();
    ImGui::SetCursorPos({at.x + line.max.x - line.min.x - ui.px(30), at.y});
    ui.recorder.set_section("Change##change");
    if (button(ui, {.name = {"Change keys of " + action.name, action.id},
                    .icon = icon::keyboard,
                    .kind = ButtonKind::icon,
                    .tip = "Takes the next keys that are pressed for this action."})) {
        changed_ = action.id;
        problem_.clear();
    }
    ui.recorder.set_section("Keys##keys");
    ImGui::SetCursorPos(after);
    if (line.pressed && changed_.empty()) {
        is_open_ = false;
        ui.actions.run(ui, action.id);
    }
}

namespace {

void draw_help(DrawContext& ui, const std::vector<PaneHelp>& pane_help, bool has_line) {
    section(ui, "This workspace##this_workspace", {}, has_line);
    for (const PaneHelp& one : pane_help) {
        text(ui, one.pane, {text_size::label, ui.theme.text1, Face::medium});
        text_wrapped(ui, one.words, text_size::label, ui.theme.text2);
        ImGui::Dummy({1, ui.px(6)});
    }
}

}  // namespace

void ShortcutList::draw_keys_list(Ui& ui) {
    draw_tools(ui);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    for (const Action& action : ui.actions.all())
        if (shown_ == 1 || !action.shortcut.empty() || changed_ == action.id) draw_row(ui, action);
    ImGui::PopStyleVar();
}

void ShortcutList::draw(Ui& ui, ImVec2 display, const std::vector<PaneHelp>& pane_help) {
    if (!is_open_) return;
    constexpr float kKeys = 760, kHelp = 360, kMargin = 16;
    // What the panes show stands beside the keys where the window is wide enough, else below them.
    const bool has_side = !pane_help.empty() && display.x >= ui.px(kKeys + kHelp + 2 * kMargin);
    const float width =
        std::min(ui.px(has_side ? kKeys + kHelp : kKeys), display.x - ui.px(2 * kMargin));
    const float height = std::min(ui.px(900), display.y - ui.px(112));
    const OverlayScope card(ui, "Keys card", {std::floor((display.x - width) / 2), ui.px(56)},
                            {width, height});
    if (is_waiting())
        take_keys(ui);
    else if (card.is_left() || ImGui::IsKeyPressed(ImGuiKey_Escape))
        is_open_ = false;
    ImGui::SetCursorPos({ui.px(kMargin), ui.px(12)});
    text(ui, "Keys and help", {text_size::empty, ui.theme.text1, Face::semibold});
    ImGui::SetCursorPos({ui.px(kMargin), ui.px(40)});
    const float inside = width - ui.px(2 * kMargin), tall = height - ui.px(84);
    const float of_help = has_side ? ui.px(kHelp - kMargin) : 0;
    ImGui::BeginChild("list", {has_side ? inside - of_help - ui.px(kMargin) : inside, tall});
    draw_keys_list(ui);
    if (!pane_help.empty() && !has_side) draw_help(ui, pane_help, true);
    ImGui::EndChild();
    if (has_side) {
        ImGui::SameLine(0, ui.px(kMargin));
        ImGui::BeginChild("help", {of_help, tall});
        draw_help(ui, pane_help, false);
        ImGui::EndChild();
    }
    draw_card_foot(ui, "F1 or Esc closes");
}

}  // namespace aft::app
