// The panes of a frame: dock space, guarded panels, the rail of small windows, overlays.
#include <imgui_internal.h>

#include <utility>

#include "app/frame/frame_state.h"
#include "app/frame/guard.h"
#include "app/widgets/parts.h"

namespace aft::app {

void Frame::Parts::draw_panes(const FrameAreas& areas) {
    const ImVec2 size(areas.dock_max.x - areas.dock_min.x, areas.dock_max.y - areas.dock_min.y);
    const auto& rooms = options.rooms != nullptr ? *options.rooms : panels();
    {
        const BarScope host("Panes", {.at = areas.dock_min, .size = size, .ground = ui.theme.pane});
        build_layout(ui, {rooms, ui.workspace, areas.width}, size,
                     std::exchange(tools.reset_layout, false));
        for (const Workspace other : kWorkspaces)
            for (const Width width : {Width::wide, Width::rail, Width::narrow}) {
                const ImGuiID id = dock_id(other, width);
                if (other == ui.workspace && width == areas.width) continue;
                if (ImGui::DockBuilderGetNode(id) != nullptr)
                    ImGui::DockSpace(id, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
            }
        ImGui::DockSpace(dock_id(ui.workspace, areas.width), size);
    }
    if (!ui.front_pane.empty()) {
        tools.focus_pane = std::exchange(ui.front_pane, {});
        tools.side_hidden = false;
    }
    ui.shown_panels.clear();
    for (const Pane& pane : panes)
        if (place_in(*pane.room, ui.workspace) != nullptr && pane.problem.empty())
            ui.shown_panels.push_back(pane.panel.get());
    // The right column comes last: it tells of what the canvas has just selected, and where it is
    // a tab of the canvas it stands behind.
    const auto is_right = [&](const Pane& pane) {
        const Place* place = place_in(*pane.room, ui.workspace);
        return place != nullptr && place->slot == Slot::right;
    };
    for (const bool right : {false, true})
        for (Pane& pane : panes)
            if (is_right(pane) == right) draw_pane(pane, areas);
    // Where the panes have only now come, their tabs cannot be chosen yet.
    if (last_workspace == ui.workspace) tools.focus_pane.reset();
    panes_are_new = last_workspace != ui.workspace || last_width != areas.width;
    last_width = areas.width;
}

void Frame::Parts::draw_pane(Pane& pane, const FrameAreas& areas) {
    const Place* place = place_in(*pane.room, ui.workspace);
    if (place == nullptr) return;
    const bool is_side = place->slot == Slot::left || place->slot == Slot::right;
    if (is_side && tools.side_hidden) return;
    const bool on_rail = place->slot == Slot::left && areas.rail > 0;
    if (on_rail && tools.rail_open != pane.room->info.name) return;
    const std::string name = window_name(*pane.room, ui.workspace, areas.width);
    const bool is_first = last_workspace != ui.workspace || last_width != areas.width;
    const bool has_column = place->slot == Slot::right && areas.width != Width::narrow;
    if (on_rail) {
        ImGui::SetNextWindowPos(areas.dock_min);
        ImGui::SetNextWindowSize({ui.px(280), areas.dock_max.y - areas.dock_min.y});
    }
    // A pane that came after the right column's first stands above it: a dialog that closes would
    // give it the focus, and its tab the front.
    const bool is_again = panes_are_new && has_column && !tools.focus_pane;
    if (tools.focus_pane == pane.room->info.name || (is_again && place->order == 0) ||
        (is_first && place->order == 0 && (place->slot == Slot::canvas || has_column)))
        ImGui::SetNextWindowFocus();
    ImGuiWindowClass kind;
    kind.DockNodeFlagsOverrideSet = static_cast<int>(ImGuiDockNodeFlags_NoWindowMenuButton) |
                                    static_cast<int>(ImGuiDockNodeFlags_NoCloseButton);
    ImGui::SetNextWindowClass(&kind);
    ui.recorder.set_pane(pane_title(*pane.room, ui.workspace));
    const ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing |
        (on_rail
             ? ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoTitleBar
             : 0);
    const bool is_visible = ImGui::Begin(name.c_str(), nullptr, flags);
    ImGuiWindow* window = ImGui::GetCurrentWindow();
    if (on_rail) ImGui::BringWindowToDisplayFront(window);
    if (window->DockIsActive && !window->DockNode->IsNoTabBar()) {
        const ImRect tab = window->DC.DockTabItemRect;
        ui.recorder.area({.kind = "tab",
                          .label = ui.recorder.claim("Tab"),
                          .min = tab.Min,
                          .max = tab.Max,
                          .value = window->DockTabIsVisible ? "shown" : "hidden",
                          .why_not = {}});
    }
    bool lost = false;
    if (is_visible) {
        const Guarded guarded = draw_guarded([&] { draw_inside(pane); });
        lost = guarded.window_lost;
        if (guarded.problem) {
            pane.problem = *guarded.problem;
            ui.say("error", "the pane " + pane.room->info.name + " stopped: " + pane.problem);
            ui.want_frames(3);
        }
    }
    if (lost) return;
    // A pane may end with a moved cursor; Dear ImGui wants an item there.
    if (ImGui::GetCurrentWindow()->DC.IsSetPos) ImGui::Dummy({0, 0});
    ImGui::End();
}

void Frame::Parts::draw_inside(Pane& pane) {
    if (pane.problem.empty()) {
        pane.panel->draw(ui);
        return;
    }
    banner(ui, {.kind = ToastKind::error,
                .title = pane.room->info.name + " stopped",
                .sentence = pane.problem + ". The other panes and the training go on.",
                .actions = {}});
    if (button(ui, {.name = "Try again", .icon = icon::refresh})) pane.problem.clear();
}

void Frame::Parts::draw_rail(const FrameAreas& areas) {
    const float height = areas.dock_max.y - areas.dock_min.y;
    const BarScope bar("Rail", {.at = {0, areas.top},
                                .size = {areas.rail, height},
                                .ground = ui.theme.bar,
                                .padding = {ui.px(7), ui.px(7)}});
    ui.recorder.set_pane("Rail");
    for (const Pane& pane : panes) {
        const Place* place = place_in(*pane.room, ui.workspace);
        if (place == nullptr || place->slot != Slot::left) continue;
        const std::string& name = pane.room->info.name;
        if (!button(ui, {.name = name,
                         .icon = pane.room->icon,
                         .kind = ButtonKind::icon,
                         .tip = pane.room->info.sentence,
                         .selected = tools.rail_open == name}))
            continue;
        tools.rail_open = tools.rail_open == name ? std::string() : name;
    }
}

void Frame::Parts::draw_overlays(ImVec2 display) {
    std::string help;
    for (const Pane& pane : panes) {
        const Place* place = place_in(*pane.room, ui.workspace);
        if (place != nullptr && (place->slot == Slot::canvas || place->slot == Slot::page))
            help += pane.room->info.name + ": " + pane.room->help + "\n";
    }
    ui.recorder.set_pane("Palette");
    tools.palette.draw(ui, display);
    ui.recorder.set_pane("Open");
    tools.browser.draw(ui, display);
    ui.recorder.set_pane("Keys");
    tools.shortcuts.draw(ui, display, help);
}

}  // namespace aft::app
