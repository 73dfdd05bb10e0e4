#include "app/widgets/combo.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/buttons.h"
#include "app/widgets/tooltip.h"

namespace aft::app {

namespace {

bool set_by_script(DrawContext& ui, const WidgetPath& path, std::span<const WidgetName> choices,
                   int& chosen) {
    const auto words = ui.recorder.scripted.take(path);
    if (!words) return false;
    std::string allowed;
    for (size_t i = 0; i < choices.size(); ++i) {
        allowed += (i == 0 ? "" : ", ") + choices[i].words;
        if (choices[i].words != *words && choices[i].id != *words) continue;
        chosen = static_cast<int>(i);
        return true;
    }
    ui.recorder.scripted.refuse(fmt::format("allowed: {}; found '{}'", allowed, *words));
    return false;
}

bool choose_in_popup(DrawContext& ui, const WidgetName& name, std::span<const WidgetName> choices,
                     int& chosen) {
    bool changed = false;
    for (size_t i = 0; i < choices.size(); ++i) {
        const bool is_chosen = static_cast<int>(i) == chosen;
        const Row line = row(ui, name.choice(choices[i]), {26, is_chosen});
        const float y = (line.min.y + line.max.y - ui.px(text_size::body)) / 2;
        text_at(ui, {line.min.x + ui.px(10), y}, choices[i].words,
                {text_size::body, ui.theme.text1, is_chosen ? Face::medium : Face::regular});
        if (!line.pressed) continue;
        chosen = static_cast<int>(i);
        changed = true;
        ImGui::CloseCurrentPopup();
    }
    return changed;
}

float widest(const DrawContext& ui, std::span<const WidgetName> choices) {
    float width = 0;
    for (const WidgetName& choice : choices)
        width = std::max(width, text_extent(ui, choice.words, text_size::body).x);
    return width;
}

}  // namespace

bool combo(DrawContext& ui, const WidgetName& name, int& chosen, const ComboChoices& spec) {
    const auto& [list, width, why_not, ground, tip] = spec;
    const std::vector<WidgetName> choices(list.begin(), list.end());
    const WidgetPath path = ui.recorder.claim(name);
    const bool off = !why_not.empty();
    bool changed = set_by_script(ui, path, choices, chosen);
    const float wide = width > 0   ? ui.px(width)
                       : width < 0 ? widest(ui, choices) + ui.px(44)
                                   : ImGui::GetContentRegionAvail().x;
    const bool pressed =
        ImGui::InvisibleButton(path.id.c_str(), {wide, ui.px(26)}, ImGuiButtonFlags_EnableNav);
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const Theme& t = ui.theme;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const bool hot = ImGui::IsItemHovered() && !off;
    draw->AddRectFilled(a, b,
                        off           ? with_alpha(t.field, 0.55f)
                        : hot         ? t.field_hover
                        : ground != 0 ? ground
                                      : t.field,
                        ui.px(4));
    if (t.is_outlined()) draw->AddRect(a, b, t.line, ui.px(4));
    const std::string shown = chosen >= 0 && chosen < static_cast<int>(choices.size())
                                  ? choices[static_cast<size_t>(chosen)].words
                                  : "";
    const ImU32 ink = off ? with_alpha(t.text3, 0.65f) : t.text1;
    text_at(ui, {a.x + ui.px(10), (a.y + b.y - ui.px(text_size::body)) / 2}, shown,
            {text_size::body, ink, Face::regular, wide - ui.px(32)});
    icon_at(ui, {b.x - ui.px(14), (a.y + b.y) / 2}, icon::up_down, {text_size::icon_inline, ink});
    ui.recorder.item("combo", path, shown, why_not);
    if (off || !tip.empty()) tooltip(ui, {.name = name.words, .sentence = off ? why_not : tip});

    const std::string popup = path.id + " choices";
    if (pressed && !off) ImGui::OpenPopup(popup.c_str());
    if (!ImGui::IsPopupOpen(popup.c_str())) return changed;
    // Below the control; above it where there is more space (the timeline, the end of a list).
    const float available = ImGui::GetIO().DisplaySize.y - b.y - ui.px(6), above = a.y - ui.px(6);
    const float needed =
        std::min(ui.px(420), static_cast<float>(choices.size()) * ui.px(26) + ui.px(8));
    const bool is_above = needed > available && above > available;
    ImGui::SetNextWindowPos(is_above ? ImVec2(a.x, a.y - ui.px(2)) : ImVec2(a.x, b.y + ui.px(2)), 0,
                            {0, is_above ? 1.0f : 0.0f});
    ImGui::SetNextWindowSizeConstraints(
        {wide, 0},
        {FLT_MAX, std::min(ui.px(420), std::max(ui.px(34), is_above ? above : available))});
    const PopupScope scope(ui, popup.c_str());
    if (scope.is_open()) {
        ImGui::Dummy({widest(ui, choices) + ui.px(24), 0});
        changed = choose_in_popup(ui, name, choices, chosen) || changed;
    }
    return changed;
}

PopupScope::PopupScope(DrawContext& ui, const char* id, ImVec2 padding) {
    ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.strong);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(padding.x), ui.px(padding.y)));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    is_open_ = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove);
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    if (is_open_) ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
}

PopupScope::~PopupScope() {
    if (!is_open_) return;
    ImGui::PopStyleVar();
    ImGui::EndPopup();
}

Row row(DrawContext& ui, const WidgetName& name, const RowLook& look) {
    const WidgetPath path = ui.recorder.claim(name);
    Row out;
    const float width = std::max(ui.px(8), ImGui::GetContentRegionAvail().x);
    out.pressed = ImGui::InvisibleButton(path.id.c_str(), {width, ui.px(look.height)},
                                         ImGuiButtonFlags_EnableNav);
    out.hovered = ImGui::IsItemHovered();
    out.double_clicked = out.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    out.min = ImGui::GetItemRectMin();
    out.max = ImGui::GetItemRectMax();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (look.selected) {
        draw->AddRectFilled(out.min, out.max, ui.theme.selected);
        draw->AddRectFilled(out.min, {out.min.x + ui.px(2), out.max.y}, ui.theme.accent);
    } else if (out.hovered) {
        draw->AddRectFilled(out.min, out.max, ui.theme.field);
    }
    ui.recorder.item("row", path, look.value.empty() && look.selected ? "selected" : look.value);
    return out;
}

Region region(DrawContext& ui, std::string_view kind, const WidgetName& name,
              const RegionLook& look) {
    const WidgetPath path = ui.recorder.claim(name);
    Region out;
    const ImVec2 size(std::max(1.0f, look.size.x), std::max(1.0f, look.size.y));
    ImGui::InvisibleButton(path.id.c_str(), size);
    out.hovered = ImGui::IsItemHovered();
    out.pressed = ImGui::IsItemActivated();
    out.held = ImGui::IsItemActive();
    out.released = ImGui::IsItemDeactivated();
    out.double_clicked = out.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    out.min = ImGui::GetItemRectMin();
    out.max = ImGui::GetItemRectMax();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    out.mouse = {mouse.x - out.min.x, mouse.y - out.min.y};
    ui.recorder.item(std::string(kind), path, look.value);
    return out;
}

}  // namespace aft::app
