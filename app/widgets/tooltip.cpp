#include "app/widgets/tooltip.h"

#include <imgui_internal.h>

#include "app/state/actions.h"

#include "app/widgets/text.h"

namespace aft::app {

void tooltip(DrawContext& ui, const Tip& tip) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_DelayNormal | ImGuiHoveredFlags_NoSharedDelay))
        return;
    ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.strong);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    if (ImGui::BeginTooltip()) {
        const float most = ui.px(324);
        text(ui, tip.name, {text_size::body, ui.theme.text1, Face::semibold});
        if (!tip.key.empty()) {
            ImGui::SameLine(0, ui.px(16));
            const ImVec2 a = ImGui::GetCursorScreenPos();
            const std::string key = shortcut_words(tip.key);
            const float wide = text_extent(ui, key, text_size::hint).x + ui.px(12);
            ImGui::GetWindowDrawList()->AddRectFilled(a, {a.x + wide, a.y + ui.px(18)},
                                                      ui.theme.field_pressed, ui.px(4));
            text_at(ui, {a.x + ui.px(6), a.y + ui.px(2)}, key, {text_size::hint, ui.theme.text2});
            ImGui::Dummy({wide, ui.px(18)});
        }
        ImGui::PushTextWrapPos(most);
        if (!tip.formula.empty())
            text(ui, tip.formula, {text_size::label, ui.theme.text1, Face::mono});
        if (!tip.sentence.empty()) text(ui, tip.sentence, {text_size::label, ui.theme.text2});
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
    }
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
}

}  // namespace aft::app
