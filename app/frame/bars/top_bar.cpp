// The top bar, bare windows for bars, and overlays.
#include "app/frame/bars/top_bar.h"

#include <imgui_internal.h>

#include <algorithm>
#include <iterator>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/tooltip.h"

namespace aft::app {

namespace {

void draw_mark(DrawContext& ui, ImVec2 at) {  // three squares, one behind the other: an afterimage
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float side = ui.px(10), shift = ui.px(6);
    for (int i = 0; i < 3; ++i) {
        const float x = at.x + shift * static_cast<float>(i),
                    y = at.y + shift * static_cast<float>(i);
        const float share = i == 0 ? 0.35f : (i == 1 ? 0.6f : 1.0f);
        draw->AddRectFilled({x, y}, {x + side, y + side}, mix(ui.theme.bar, ui.theme.accent, share),
                            ui.px(2));
    }
}

// In the order of the registry, with what begins first and what ends last.
std::vector<const Action*> menu_actions(const Ui& ui, const std::string& menu) {
    std::vector<const Action*> list;
    for (const Action& action : ui.actions.all())
        if (action.menu == menu) list.push_back(&action);
    const auto place = [](const Action* action) {
        return action->id == "file.new_run" ? 0 : action->id == "file.quit" ? 2 : 1;
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Action* a, const Action* b) { return place(a) < place(b); });
    return list;
}

void draw_menu_items(Ui& ui, const std::string& menu, bool with_headings) {
    for (const Action* const item : menu_actions(ui, menu)) {
        const Action& action = *item;
        const std::string why = ui.actions.why_not(ui, action.id);
        const Row line = row(ui, {action.name, action.id}, {28, false});
        ui.recorder.runs_action(action.id);
        const float middle = (line.min.y + line.max.y) / 2;
        const ImU32 ink = why.empty() ? ui.theme.text1 : with_alpha(ui.theme.text3, 0.65f);
        icon_at(ui, {line.min.x + ui.px(16), middle}, action.icon, {text_size::icon_inline, ink});
        text_at(ui, {line.min.x + ui.px(34), middle - ui.px(text_size::body) / 2}, action.name,
                {text_size::body, ink});
        text_right(ui, {line.max.x - ui.px(8), middle - ui.px(text_size::hint) / 2},
                   shortcut_words(action.shortcut), {text_size::hint, ui.theme.text3});
        tooltip(ui, {.name = action.name,
                     .key = action.shortcut,
                     .formula = {},
                     .sentence = why.empty() ? action.sentence : why});
        if (!line.pressed || !why.empty()) continue;
        ImGui::CloseCurrentPopup();
        ui.actions.run(ui, action.id);
    }
    if (with_headings) ImGui::Dummy({1, ui.px(6)});
}

constexpr const char* kMenus[] = {"File", "Run", "View", "Help"};

const char* menu_id(std::string_view menu) {
    constexpr const char* ids[] = {"file", "run", "view", "help"};
    return ids[std::find(std::begin(kMenus), std::end(kMenus), menu) - std::begin(kMenus)];
}

// For the title drawn last: whether its menu shall open. While one is open the pointer alone
// changes to another; a click that comes with it must not close what it has just opened.
bool opens_menu(const char* menu, bool pressed) {
    ImGuiStorage& kept = *ImGui::GetStateStorage();
    const std::string id = menu;
    const ImGuiID opened_at = ImGui::GetID((id + " opened at").c_str());
    const ImGuiID wanted = ImGui::GetID((id + " wanted").c_str());
    constexpr float kJustNow_s = 0.5F;
    const auto now = static_cast<float>(ImGui::GetTime());
    const bool is_open = ImGui::IsPopupOpen(menu);
    const bool is_over = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup);
    const bool is_other = !is_open && std::any_of(std::begin(kMenus), std::end(kMenus),
                                                  [](auto m) { return ImGui::IsPopupOpen(m); });
    if (is_over && is_other) kept.SetFloat(opened_at, now);
    if (is_over && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        kept.SetBool(wanted, !is_open || now - kept.GetFloat(opened_at, -1) < kJustNow_s);
    const bool is_clicked =
        is_over && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && kept.GetBool(wanted);
    return pressed || is_clicked || (is_over && is_other);
}

void draw_menus(Ui& ui, bool as_one) {
    ui.recorder.set_section("Menu##menu");
    const auto popup = [&](const char* id, bool pressed, bool all) {
        const ImVec2 at(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(6));
        if (pressed) ImGui::OpenPopup(id);
        ImGui::SetNextWindowPos(at);
        ImGui::SetNextWindowSizeConstraints({ui.px(320), 0}, {ui.px(320), FLT_MAX});
        const PopupScope scope(ui, id);
        if (!scope.is_open()) return;
        for (const char* menu : kMenus)
            if (all || id == std::string(menu)) draw_menu_items(ui, menu, all);
    };
    if (as_one) {
        popup("Menu",
              button(ui, {.name = "Menu##menu",
                          .icon = icon::menu,
                          .kind = ButtonKind::icon,
                          .tip = "File, Run, View, Help"}),
              true);
        return;
    }
    for (const char* menu : kMenus) {
        const WidgetPath path = ui.recorder.claim({menu, menu_id(menu)});
        const float width = text_extent(ui, menu, text_size::label).x + ui.px(20);
        const bool pressed =
            ImGui::InvisibleButton(path.id.c_str(), {width, ui.px(26)}, ImGuiButtonFlags_EnableNav);
        const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
        const bool hot = ImGui::IsItemHovered() || ImGui::IsPopupOpen(menu);
        if (hot) ImGui::GetWindowDrawList()->AddRectFilled(a, b, ui.theme.field, ui.px(4));
        text_at(ui, {a.x + ui.px(10), (a.y + b.y - ui.px(text_size::label)) / 2}, menu,
                {text_size::label, hot ? ui.theme.text1 : ui.theme.text2});
        ui.recorder.item("menu", path);
        popup(menu, opens_menu(menu, pressed), false);
        ImGui::SameLine(0, 0);
    }
}

void draw_workspaces(Ui& ui, float left, float middle, float right) {
    ui.recorder.set_section("Workspaces##workspaces");
    float total = 0;
    std::vector<float> widths;
    for (const Workspace workspace : kWorkspaces) {
        widths.push_back(
            text_extent(ui, workspace_name(workspace), text_size::body, Face::semibold).x +
            ui.px(28));
        total += widths.back();
    }
    float x = std::floor(std::clamp(middle - total / 2, left, std::max(left, right - total)));
    size_t i = 0;
    for (const Workspace workspace : kWorkspaces) {
        const char* name = workspace_name(workspace);
        ImGui::SetCursorScreenPos({x, ui.px(8)});
        const WidgetPath path = ui.recorder.claim({name, workspace_id(workspace)});
        const bool chosen = ui.workspace == workspace;
        if (ImGui::InvisibleButton(path.id.c_str(), {widths[i], ui.px(28)},
                                   ImGuiButtonFlags_EnableNav))
            ui.workspace = workspace;
        const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
        if (chosen)
            ImGui::GetWindowDrawList()->AddRectFilled(a, b, ui.theme.field_on_bar(), ui.px(4));
        const Face face = chosen ? Face::semibold : Face::medium;
        const float width = text_extent(ui, name, text_size::body, face).x;
        const ImU32 ink = chosen || ImGui::IsItemHovered() ? ui.theme.text1 : ui.theme.text2;
        text_at(ui, {(a.x + b.x - width) / 2, (a.y + b.y - ui.px(text_size::body)) / 2}, name,
                {text_size::body, ink, face});
        ui.recorder.item("workspace", path, chosen ? "chosen" : "");
        const Action* const shows =
            ui.actions.find(std::string("view.workspace_") + workspace_id(workspace));
        tooltip(ui, {.name = name, .key = shows->shortcut, .sentence = shows->sentence});
        x += widths[i++];
    }
}

void draw_palette_field(Ui& ui, float right) {
    const ImVec2 size(ui.px(236), ui.px(26));
    ImGui::SetCursorScreenPos({right - size.x, ui.px(9)});
    const WidgetPath path = ui.recorder.claim("Search actions##search_actions");
    if (ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav))
        ui.actions.run(ui, "view.command_palette");
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(
        a, b, ImGui::IsItemHovered() ? ui.theme.field_hover : ui.theme.field_on_bar(), ui.px(4));
    if (ui.theme.is_outlined()) draw->AddRect(a, b, ui.theme.line, ui.px(4));
    const float middle = (a.y + b.y) / 2;
    icon_at(ui, {a.x + ui.px(15), middle}, icon::search, {text_size::icon_inline, ui.theme.text3});
    text_at(ui, {a.x + ui.px(28), middle - ui.px(text_size::label) / 2}, "Search actions",
            {text_size::label, ui.theme.text3});
    text_right(ui, {b.x - ui.px(9), middle - ui.px(text_size::hint) / 2},
               shortcut_words(keys_of(ui.actions, "view.command_palette")),
               {text_size::hint, ui.theme.text3});
    ui.recorder.item("button", path);
    tooltip(ui, {.name = "Search actions",
                 .key = keys_of(ui.actions, "view.command_palette"),
                 .sentence = "Finds any action by its name."});
}

}  // namespace

void draw_top_bar(Ui& ui, const FrameAreas& areas, ImVec2 display) {
    const BarScope bar("Top bar",
                       {.at = {0, 0}, .size = {display.x, areas.top}, .ground = ui.theme.bar});
    ui.recorder.set_pane("Top bar##top_bar");
    ImGui::GetWindowDrawList()->AddRectFilled({0, areas.top - ui.px(2)}, {display.x, areas.top},
                                              ui.theme.gap);
    draw_mark(ui, {ui.px(14), ui.px(10)});
    const bool is_small = areas.width != Width::wide;
    ImGui::SetCursorScreenPos({ui.px(is_small ? 44 : 38), ui.px(9)});
    draw_menus(ui, is_small);
    const float icons = display.x - ui.px(is_small ? 112 : 78);
    draw_workspaces(ui, ui.px(is_small ? 84 : 250), is_small ? 0 : display.x / 2,
                    icons - ui.px(is_small ? 0 : 250));
    ui.recorder.set_section("Tools##tools");
    if (is_small) {
        ImGui::SetCursorScreenPos({icons, ui.px(9)});
        if (button(ui, {.name = "Search actions##search_actions",
                        .icon = icon::search,
                        .kind = ButtonKind::icon,
                        .tip = "Finds any action by its name.",
                        .shortcut = keys_of(ui.actions, "view.command_palette")}))
            ui.actions.run(ui, "view.command_palette");
    } else {
        draw_palette_field(ui, icons - ui.px(6));
    }
    ImGui::SetCursorScreenPos({display.x - ui.px(72), ui.px(9)});
    const int unread = ui.toasts.unread_errors();
    if (button(ui,
               {.name = "Messages##messages",
                .icon = icon::bell,
                .kind = ButtonKind::icon,
                .tip = unread > 0 ? "There are errors that you have not seen." : "Opens the log."}))
        ui.actions.run(ui, "view.log");
    if (unread > 0)
        ImGui::GetWindowDrawList()->AddCircleFilled(
            {ImGui::GetItemRectMax().x - ui.px(6), ImGui::GetItemRectMin().y + ui.px(6)}, ui.px(4),
            ui.theme.error);
    ImGui::SetCursorScreenPos({display.x - ui.px(38), ui.px(9)});
    if (button(ui, {.name = "Help##help",
                    .icon = icon::help,
                    .kind = ButtonKind::icon,
                    .tip = "Keys and panes",
                    .shortcut = keys_of(ui.actions, "help.keys")}))
        ui.actions.run(ui, "help.keys");
}

}  // namespace aft::app
