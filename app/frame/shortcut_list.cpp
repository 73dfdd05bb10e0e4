#include "app/frame/shortcut_list.h"

#include <algorithm>
#include <cmath>

#include "app/frame/overlays.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"

namespace aft::app {

void ShortcutList::draw(Ui& ui, ImVec2 display, const std::string& pane_help) {
    if (!is_open_) return;
    const float width = std::min(ui.px(720), display.x - ui.px(32));
    const float height = std::min(ui.px(640), display.y - ui.px(160));
    const OverlayScope card(ui, "Keys card", {std::floor((display.x - width) / 2), ui.px(80)},
                            {width, height});
    if (card.is_left() || ImGui::IsKeyPressed(ImGuiKey_Escape)) is_open_ = false;
    ImGui::SetCursorPos({ui.px(16), ui.px(12)});
    text(ui, "Keys and help", {text_size::empty, ui.theme.text1, Face::semibold});
    ImGui::SetCursorPos({ui.px(16), ui.px(40)});
    ImGui::BeginChild("list", {width - ui.px(32), height - ui.px(84)});
    if (!pane_help.empty()) {
        section(ui, "This workspace##this_workspace", {}, false);
        text_wrapped(ui, pane_help, text_size::label, ui.theme.text2);
    }
    section(ui, "Keys##keys");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    for (const Action& action : ui.actions.all()) {
        if (action.shortcut.empty()) continue;
        const Row line = row(ui, {action.name, action.id}, {26, false, action.shortcut});
        ui.recorder.runs_action(action.id);
        const float middle = (line.min.y + line.max.y) / 2;
        text_at(ui, {line.min.x + ui.px(4), middle - ui.px(text_size::label) / 2}, action.name,
                {text_size::label, ui.theme.text1});
        text_at(
            ui, {line.min.x + ui.px(230), middle - ui.px(text_size::hint) / 2}, action.sentence,
            {text_size::hint, ui.theme.text3, Face::regular, line.max.x - line.min.x - ui.px(340)});
        draw_keys(ui, line.max.x - ui.px(8), middle, action.shortcut);
        if (line.pressed) {
            is_open_ = false;
            ui.actions.run(ui, action.id);
        }
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
    draw_card_foot(ui, "F1 or Esc closes");
}

}  // namespace aft::app
