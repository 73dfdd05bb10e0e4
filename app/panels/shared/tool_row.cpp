#include "app/panels/shared/tool_row.h"

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"

namespace aft::app {

void inline_label(DrawContext& ui, std::string_view words) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = text_extent(ui, words, text_size::label).x;
    const bool is_first = ImGui::GetCursorPosX() <= ImGui::GetCursorStartPos().x;
    const float before = is_first ? 0 : ui.px(4);
    text_at(ui, {at.x + before, at.y + (ui.px(26) - ui.px(text_size::label)) / 2}, words,
            {text_size::label, ui.theme.text2});
    ImGui::Dummy({width + before, ui.px(26)});
    ImGui::SameLine(0, ui.px(8));
}

void tool_row(DrawContext& ui, float available, std::span<const Tool> tools) {
    float all = 0;
    for (const Tool& tool : tools) all += ui.px(tool.width);
    if (all > available) available -= ui.px(38);  // the button for the rest
    size_t shown = 0;
    for (; shown < tools.size() && available >= ui.px(tools[shown].width); ++shown) {
        available -= ui.px(tools[shown].width);
        ImGui::SameLine(0, ui.px(12));
        tools[shown].draw();
    }
    if (shown == tools.size()) return;
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "More tools##more_tools",
                    .icon = icon::more,
                    .kind = ButtonKind::icon,
                    .tip = "What does not fit in this row."}))
        ImGui::OpenPopup("more tools");
    const PopupScope popup(ui, "more tools");
    if (!popup.is_open()) return;
    for (const Tool& tool : tools.subspan(shown)) {
        ImGui::Dummy({ui.px(4), ui.px(4)});
        tool.draw();
        ImGui::Dummy({ui.px(4), ui.px(4)});
    }
}

}  // namespace aft::app
