#include "app/frame/layouts.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <map>
#include <vector>

namespace aft::app {

namespace {

struct SlotSize {
    float left = 248, right = 300, top = 0, below = 0;  // at scale 1
};

SlotSize slot_sizes(Workspace workspace) {
    switch (workspace) {
        case Workspace::train:
            return {.top = 104};
        case Workspace::complete:
            return {.left = 280, .below = 252};
        case Workspace::lab:
            return {.left = 320};
        default:
            return {};
    }
}

struct Tabs {
    int order;
    std::string window;
};

std::map<Slot, std::vector<Tabs>> windows_by_slot(const LayoutOf& of) {
    const auto [rooms, workspace, width] = of;
    std::map<Slot, std::vector<Tabs>> slots;
    for (const PanelRoom& room : rooms) {
        const PanelPlace* place = place_in(room, workspace);
        if (place == nullptr) continue;
        Slot slot = place->slot;
        if (slot == Slot::left && width != Width::wide && !place->leads()) continue;
        if (slot == Slot::right && width == Width::narrow) slot = Slot::canvas;
        const int order = place->order + (slot == place->slot ? 0 : 100);
        slots[slot].push_back({order, window_name(room, workspace, width)});
    }
    for (auto& [slot, tabs] : slots)
        std::stable_sort(tabs.begin(), tabs.end(),
                         [](const Tabs& a, const Tabs& b) { return a.order < b.order; });
    return slots;
}

// Cuts `pixels` off one side of `node`; returns the new node of that side.
ImGuiID cut(ImGuiID& node, ImGuiDir side, float pixels, float& available) {
    const float share = std::clamp(pixels / std::max(1.0f, available), 0.05f, 0.9f);
    ImGuiID part = 0;
    ImGui::DockBuilderSplitNode(node, side, share, &part, &node);
    available -= pixels;
    return part;
}

}  // namespace

Width width_of(float display_width, float scale) {
    const float width = display_width / scale;
    if (width < 1000) return Width::narrow;
    return width < 1280 ? Width::rail : Width::wide;
}

FrameAreas frame_areas(const PaneContext& ui, ImVec2 display, bool has_timeline) {
    FrameAreas a;
    a.width = width_of(display.x, ui.scale);
    a.top = ui.px(44);
    a.timeline = has_timeline ? ui.px(a.width == Width::wide ? 84 : 52) : 0;
    a.status = ui.px(26);
    const bool has_rail = a.width != Width::wide && ui.workspace != Workspace::home &&
                          ui.workspace != Workspace::complete;
    a.rail = has_rail ? ui.px(40) : 0;
    a.dock_min = {a.rail, a.top};
    a.dock_max = {display.x, std::max(a.top + ui.px(40), display.y - a.timeline - a.status)};
    return a;
}

std::string window_name(const PanelRoom& room, Workspace workspace, Width width) {
    static constexpr const char* kWidths[] = {"wide", "rail", "narrow"};
    return fmt::format("{0}###{1} {2}/{0}", pane_name(room, workspace).words,
                       workspace_name(workspace), kWidths[static_cast<int>(width)]);
}

WidgetName pane_name(const PanelRoom& room, Workspace workspace) {
    const PanelPlace* place = place_in(room, workspace);
    if (place != nullptr && place->title != nullptr) return place->title;
    return {room.info.name, room.id};
}

const PanelPlace* place_in(const PanelRoom& room, Workspace workspace) {
    for (const PanelPlace& place : room.places)
        if (place.workspace == workspace) return &place;
    return nullptr;
}

ImGuiID dock_id(Workspace workspace, Width width) {
    return ImHashStr(
        fmt::format("dock {} {}", workspace_name(workspace), static_cast<int>(width)).c_str());
}

void build_layout(const DrawContext& ui, const LayoutOf& of, ImVec2 size, bool reset) {
    const ImGuiID root = dock_id(of.workspace, of.width);
    if (ImGui::DockBuilderGetNode(root) != nullptr && !reset) return;
    ImGui::DockBuilderRemoveNode(root);
    ImGui::DockBuilderAddNode(root, static_cast<int>(ImGuiDockNodeFlags_DockSpace));
    ImGui::DockBuilderSetNodeSize(root, size);
    const auto slots = windows_by_slot(of);
    const SlotSize sizes = slot_sizes(of.workspace);
    ImGuiID canvas = root;
    ImVec2 available = size;
    const auto put = [&](Slot slot, ImGuiID node) {
        for (const Tabs& tab : slots.at(slot))
            ImGui::DockBuilderDockWindow(tab.window.c_str(), node);
    };
    if (slots.contains(Slot::left))
        put(Slot::left, cut(canvas, ImGuiDir_Left, ui.px(sizes.left), available.x));
    if (slots.contains(Slot::right))
        put(Slot::right, cut(canvas, ImGuiDir_Right, ui.px(sizes.right), available.x));
    if (slots.contains(Slot::top)) {
        const ImGuiID top = cut(canvas, ImGuiDir_Up, ui.px(sizes.top), available.y);
        put(Slot::top, top);
        ImGui::DockBuilderGetNode(top)->SetLocalFlags(static_cast<ImGuiDockNodeFlags>(
            static_cast<int>(ImGuiDockNodeFlags_NoTabBar) | ImGuiDockNodeFlags_NoResize));
    }
    if (slots.contains(Slot::below))
        put(Slot::below,
            cut(canvas, ImGuiDir_Down, std::min(ui.px(sizes.below), std::floor(size.y * 0.42f)),
                available.y));
    if (slots.contains(Slot::canvas)) put(Slot::canvas, canvas);
    if (slots.contains(Slot::page)) {
        put(Slot::page, canvas);
        ImGui::DockBuilderGetNode(canvas)->SetLocalFlags(
            static_cast<ImGuiDockNodeFlags>(static_cast<int>(ImGuiDockNodeFlags_NoTabBar) |
                                            static_cast<int>(ImGuiDockNodeFlags_CentralNode)));
    }
    ImGui::DockBuilderFinish(root);
}

namespace {

void scale_parts(ImGuiDockNode& node, float factor) {
    for (ImGuiDockNode* part : node.ChildNodes) {
        if (part == nullptr) continue;
        part->SizeRef = {part->SizeRef.x * factor, part->SizeRef.y * factor};
        scale_parts(*part, factor);
    }
}

}  // namespace

void scale_layouts(float factor) {
    for (const Workspace workspace : kWorkspaces)
        for (const Width width : {Width::wide, Width::rail, Width::narrow})
            if (ImGuiDockNode* root = ImGui::DockBuilderGetNode(dock_id(workspace, width)))
                scale_parts(*root, factor);
}

}  // namespace aft::app
