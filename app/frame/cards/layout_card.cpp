#include "app/frame/cards/layout_card.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/frame/layouts.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {
namespace {

// "Layout 1", or the first of these that is not kept yet.
std::string free_name(const std::map<std::string, KeptLayout>& layouts) {
    for (size_t number = 1;; ++number)
        if (std::string name = fmt::format("Layout {}", number); !layouts.contains(name))
            return name;
}

}  // namespace

void LayoutCard::apply(PaneContext& ui) {
    const auto found = ui.settings.layouts.find(std::exchange(wanted_, {}));
    if (found == ui.settings.layouts.end()) return;
    const KeptLayout& kept = found->second;
    ImGui::LoadIniSettingsFromMemory(kept.text.c_str(), kept.text.size());
    if (kept.scale > 0 && kept.scale != double(ui.scale))
        scale_layouts(ui.scale / static_cast<float>(kept.scale));
    ui.want_frames(3);
}

void LayoutCard::save(Ui& ui) {
    ui.settings.layouts[name_] = {ImGui::SaveIniSettingsToMemory(), ui.scale};
    ImGui::MarkIniSettingsDirty();  // the settings are written soon
    is_open_ = false;
    ui.toasts.add({.kind = ToastKind::done, .title = "Layout kept", .detail = name_});
}

void LayoutCard::draw_row(DrawContext& ui, const std::string& name) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::SetNextItemAllowOverlap();  // by the button at its right
    const Row line = row(ui, WidgetName::data(name), {30, name == name_, ""});
    text_at(ui, {line.min.x + ui.px(10), line.min.y + ui.px(8)}, name,
            {text_size::label, ui.theme.text1, Face::regular, line.max.x - line.min.x - ui.px(60)});
    ImGui::SetCursorScreenPos({line.max.x - ui.px(32), line.min.y + ui.px(2)});
    if (button(ui, {.name = {"Forget " + name, "forget_" + name},
                    .icon = icon::close,
                    .kind = ButtonKind::icon,
                    .tip = "Takes this layout out of the list."}))
        forgotten_ = name;
    ImGui::SetCursorScreenPos({start.x, line.max.y});
    if (!line.pressed) return;
    wanted_ = name;
    is_open_ = false;
    ui.want_frames(3);
}

void LayoutCard::draw_rows(Ui& ui, float height) {
    ui.recorder.set_section("Layouts##layouts");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::BeginChild("layouts", {0, height}, ImGuiChildFlags_NavFlattened);
    for (const auto& [name, kept] : ui.settings.layouts) draw_row(ui, name);
    if (ui.settings.layouts.empty())
        hint(ui, "None is kept yet. Arrange the panes as you want them and keep that here.");
    ImGui::EndChild();
    ImGui::PopStyleVar();
    if (forgotten_.empty()) return;
    ui.settings.layouts.erase(std::exchange(forgotten_, {}));
    ImGui::MarkIniSettingsDirty();
}

void LayoutCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const CardScope card(ui, display, {"Layout card", "Layouts", {560, 360}});
    if (card.is_left()) is_open_ = false;
    if (is_new_) name_ = free_name(ui.settings.layouts);
    draw_rows(ui, std::max(ui.px(60), ImGui::GetContentRegionAvail().y - ui.px(96)));
    ui.recorder.set_section("Answer##answer");
    const TextEdit edit = text_field(ui,
                                     {.name = "Name##name",
                                      .hint = "name of the present layout",
                                      .focus = std::exchange(is_new_, false),
                                      .tip = "Under which the panes' places are kept."},
                                     name_);
    const auto& known = ui.settings.layouts;
    const std::string why =
        name_.empty() ? "Type a name for it."
        : !is_layout_name(name_)
            ? fmt::format("The name is longer than {} letters.", kMostLayoutLetters)
        : known.size() >= kMostLayouts && !known.contains(name_)
            ? fmt::format("{} layouts are kept; forget one of them.", kMostLayouts)
            : "";
    to_card_foot(ui);
    const CardAnswer answer = save_buttons(
        ui, {.why_not = why,
             .tip = "Keeps where the panes of all workspaces stand; one of this name is replaced.",
             .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) save(ui);
}

void add_layout_actions(Actions& actions, LayoutCard& card) {
    actions.add({.id = "view.layouts",
                 .name = "Layouts...",
                 .sentence = "Keeps where the panes stand under a name, and puts them back.",
                 .icon = icon::grid,
                 .menu = "View",
                 .run = [&card](Ui&) { card.open(); }});
}

}  // namespace aft::app
