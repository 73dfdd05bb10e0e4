#include "app/frame/panes.h"

#include <imgui_internal.h>

#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/frame/frame_tools.h"
#include "app/frame/guard.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"

namespace aft::app {

struct Panes::DrawPass {
    Ui& ui;
    FrameTools& tools;
    const FrameAreas& areas;
};

Panes::Panes(const std::vector<PanelRoom>& rooms) : rooms_(rooms) {
    for (const PanelRoom& room : rooms)
        panes_.push_back({.room = &room, .panel = room.make(), .problem = {}});
}

void Panes::add_actions(Actions& actions) {
    for (const Pane& pane : panes_) pane.panel->actions(actions);
}

bool Panes::has_left(Workspace workspace) {
    return std::exchange(last_workspace_, workspace) != workspace;
}

bool Panes::is_first(const DrawPass& drawing) const {
    return last_workspace_ != drawing.ui.workspace || last_width_ != drawing.areas.width;
}

void Panes::draw_dock_space(const DrawPass& drawing) {
    const auto& [ui, tools, areas] = drawing;
    const ImVec2 size(areas.dock_max.x - areas.dock_min.x, areas.dock_max.y - areas.dock_min.y);
    const BarScope host("Panes", {.at = areas.dock_min, .size = size, .ground = ui.theme.pane});
    build_layout(ui, {rooms_, ui.workspace, areas.width}, size,
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

void Panes::draw(Ui& ui, FrameTools& tools, const FrameAreas& areas) {
    const DrawPass drawing{ui, tools, areas};
    draw_dock_space(drawing);
    // Another width has other tabs: those that were shown stay in front.
    if (last_workspace_ == ui.workspace && last_width_ != areas.width)
        tools.focus_panes.insert(tools.focus_panes.end(), shown_.begin(), shown_.end());
    shown_.clear();
    ui.shown_panels.clear();
    for (const Pane& pane : panes_)
        if (place_in(*pane.room, ui.workspace) != nullptr && pane.problem.empty())
            ui.shown_panels.push_back(pane.panel.get());
    // The right column comes last: it tells of what the canvas has just selected, and where it is
    // a tab of the canvas it stands behind.
    const auto is_right = [&](const Pane& pane) {
        const PanelPlace* place = place_in(*pane.room, ui.workspace);
        return place != nullptr && place->slot == Slot::right;
    };
    middle_ = {FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (const bool right : {false, true}) {
        for (Pane& pane : panes_)
            if (is_right(pane) == right) draw_pane(drawing, pane);
        if (!right) mark_front();
    }
    // Where the panes have only now come, their tabs cannot be chosen yet.
    are_new_ = is_first(drawing);
    if (!are_new_) tools.focus_panes.clear();
    last_width_ = areas.width;
}

void Panes::mark_front() {
    for (const Pane& pane : panes_)
        pane.panel->set_front(std::find(shown_.begin(), shown_.end(), pane.room->id) !=
                              shown_.end());
}

// Which pane comes to the front by itself.
void Panes::focus(const DrawPass& drawing, const Pane& pane, const PanelPlace& place) const {
    const std::vector<std::string>& fronts = drawing.tools.focus_panes;
    const bool is_front = std::find(fronts.begin(), fronts.end(), pane.room->id) != fronts.end();
    const bool has_column = place.slot == Slot::right && drawing.areas.width != Width::narrow;
    // A pane that came after the right column's first stands above it: a dialog that closes would
    // give it the focus, and its tab the front.
    const bool is_again = are_new_ && (has_column || place.leads()) && fronts.empty();
    if (is_front || (is_again && place.order <= 0) ||
        (is_first(drawing) &&
         (place.leads() || (place.order == 0 && (place.slot == Slot::canvas || has_column)))))
        ImGui::SetNextWindowFocus();
}

void Panes::draw_pane(const DrawPass& drawing, Pane& pane) {
    const auto& [ui, tools, areas] = drawing;
    const PanelPlace* place = place_in(*pane.room, ui.workspace);
    if (place == nullptr) return;
    const bool is_side = place->slot == Slot::left || place->slot == Slot::right;
    if (is_side && tools.side_hidden) return;
    const bool on_rail = place->slot == Slot::left && areas.rail > 0 && !place->leads();
    if (on_rail && tools.rail_open != pane.room->id) return;
    if (on_rail) {
        ImGui::SetNextWindowPos(areas.dock_min);
        ImGui::SetNextWindowSize({ui.px(280), areas.dock_max.y - areas.dock_min.y});
    }
    focus(drawing, pane, *place);
    ImRect box;
    viz::NumberSink* const numbers = is_side ? std::exchange(ui.numbers, nullptr) : ui.numbers;
    const bool is_seen = draw_window(drawing, pane, on_rail, box);
    ui.numbers = numbers;
    if (is_seen && !is_side) shown_.push_back(pane.room->id);
    if (is_seen && !is_side) middle_.Add(box);
}

namespace {

void draw_inside(Ui& ui, Pane& pane) {
    if (pane.problem.empty()) {
        pane.panel->draw(ui);
        return;
    }
    banner(ui, {.kind = ToastKind::error,
                .title = pane.room->info.name + " stopped",
                .sentence = pane.problem + ". The other panes and the training continue.",
                .actions = {}});
    if (button(ui, {.name = "Try again##try_again",
                    .icon = icon::refresh,
                    .tip = "Draws the pane again."}))
        pane.problem.clear();
}

void record_tab(DrawContext& ui, const ImGuiWindow& window) {
    if (!window.DockIsActive || window.DockNode->IsNoTabBar()) return;
    const ImRect tab = window.DC.DockTabItemRect;
    ui.recorder.area({.kind = "tab",
                      .path = ui.recorder.claim("Tab##tab"),
                      .min = tab.Min,
                      .max = tab.Max,
                      .value = window.DockTabIsVisible ? "shown" : "hidden",
                      .why_not = {}});
}

}  // namespace

bool Panes::draw_window(const DrawPass& drawing, Pane& pane, bool on_rail, ImRect& box) {
    Ui& ui = drawing.ui;
    ImGuiWindowClass kind;
    kind.DockNodeFlagsOverrideSet = static_cast<int>(ImGuiDockNodeFlags_NoWindowMenuButton) |
                                    static_cast<int>(ImGuiDockNodeFlags_NoCloseButton);
    ImGui::SetNextWindowClass(&kind);
    ui.recorder.set_pane(pane_name(*pane.room, ui.workspace));
    const ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing |
        (on_rail
             ? ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoTitleBar
             : 0);
    const std::string name = window_name(*pane.room, ui.workspace, drawing.areas.width);
    const bool is_visible = ImGui::Begin(name.c_str(), nullptr, flags);
    ImGuiWindow* window = ImGui::GetCurrentWindow();
    if (on_rail) ImGui::BringWindowToDisplayFront(window);
    record_tab(ui, *window);
    box = window->Rect();
    if (is_visible) {
        const Guarded guarded = draw_guarded([&] { draw_inside(ui, pane); });
        if (guarded.problem) {
            pane.problem = *guarded.problem;
            ui.say("error", "the pane " + pane.room->info.name + " stopped: " + pane.problem);
            ui.want_frames(3);
        }
        if (guarded.window_lost) return false;
    }
    // A pane may end with a moved cursor; Dear ImGui wants an item there.
    if (ImGui::GetCurrentWindow()->DC.IsSetPos) ImGui::Dummy({0, 0});
    ImGui::End();
    return is_visible;
}

void Panes::draw_rail(PaneContext& ui, FrameTools& tools, const FrameAreas& areas) {
    const float height = areas.dock_max.y - areas.dock_min.y;
    const BarScope bar("Rail", {.at = {0, areas.top},
                                .size = {areas.rail, height},
                                .ground = ui.theme.bar,
                                .padding = {ui.px(7), ui.px(7)}});
    ui.recorder.set_pane("Rail##rail");
    for (const Pane& pane : panes_) {
        const PanelPlace* place = place_in(*pane.room, ui.workspace);
        if (place == nullptr || place->slot != Slot::left || place->leads()) continue;
        const std::string& id = pane.room->id;
        if (!button(ui, {.name = {pane.room->info.name, id},
                         .icon = pane.room->icon,
                         .kind = ButtonKind::icon,
                         .tip = pane.room->info.sentence,
                         .selected = tools.rail_open == id}))
            continue;
        tools.rail_open = tools.rail_open == id ? std::string() : id;
    }
}

std::vector<PaneHelp> Panes::help(Workspace workspace) const {
    std::vector<PaneHelp> out;
    for (const Pane& pane : panes_) {
        const PanelPlace* place = place_in(*pane.room, workspace);
        if (place != nullptr && (place->slot == Slot::canvas || place->slot == Slot::page))
            out.push_back({pane.room->info.name, pane.room->help});
    }
    return out;
}

}  // namespace aft::app
