#include "app/widgets/tooltip.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/state/actions.h"

#include "app/widgets/text.h"

namespace aft::app {

namespace {

// Whether the pointer has rested long enough. A window at rest draws nothing: the frame that shows
// the tooltip is asked for.
bool is_due(DrawContext& ui) {
    constexpr ImGuiHoveredFlags kOver = ImGuiHoveredFlags_AllowWhenDisabled;
    // Of a field that is typed into, no pointer rests there: it would cover what stands below.
    if (ImGui::GetCurrentContext()->NavHighlightItemUnderNav && ImGui::IsItemActive()) return false;
    if (!ImGui::IsItemHovered(kOver)) return false;
    if (ImGui::IsItemHovered(kOver | ImGuiHoveredFlags_DelayNormal |
                             ImGuiHoveredFlags_NoSharedDelay))
        return true;
    constexpr double kClocks_s = 0.02;  // Dear ImGui reads its clock after ours
    const float passed = ImGui::GetCurrentContext()->HoverItemDelayTimer;
    const double rest = std::max(0.0F, ImGui::GetStyle().HoverDelayNormal - passed);
    ui.want_frame_at(ui.time + rest + kClocks_s);
    return false;
}

// Under the last item, or above it where there is no space: the item stays in view. Tall items, as
// maps, keep it beside the pointer.
void place_beside_item(const DrawContext& ui) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    if (high.y - low.y > ui.px(48)) return;
    ImGuiWindow* const before = ImGui::FindWindowByName("##Tooltip_00");
    const ImVec2 size = before == nullptr ? ImVec2() : ImGui::CalcWindowNextAutoFitSize(before);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float gap = ui.px(6);
    const float wanted =
        high.x - low.x > ui.px(240) ? ImGui::GetIO().MousePos.x - ui.px(16) : low.x;
    const float x = std::max(gap, std::min(wanted, display.x - size.x - gap));
    const bool is_above = high.y + gap + size.y > display.y && low.y - gap - size.y > 0;
    ImGui::SetNextWindowPos({std::round(x), is_above ? low.y - gap : high.y + gap},
                            ImGuiCond_Always, {0, is_above ? 1.0F : 0.0F});
}

}  // namespace

void tooltip(DrawContext& ui, const Tip& tip) {
    record_tip(ui.recorder, ImGui::GetItemID(),
               tip.name + (tip.sentence.empty() ? "" : ": " + tip.sentence));
    if (!is_due(ui)) return;
    ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.strong);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    place_beside_item(ui);
    if (ImGui::BeginTooltip()) {
        if (ImGui::IsWindowAppearing()) ui.want_frames(2);  // it is measured first, then shown
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
