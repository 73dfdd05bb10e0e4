// Layouts: where panes stand. The default dock layout of each workspace at three widths, built in
// code once; afterwards Dear ImGui remembers what the user changed. Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include <string>

#include "app/panels/panel.h"

namespace aft::app {

inline constexpr int kLeastWidth = 800, kLeastHeight = 560;  // of the window, in pixels

// Under 1280: Explorer is a rail; under 1000: no right column.
enum class Width { wide, rail, narrow };
[[nodiscard]] Width width_of(float display_width, float scale);

struct FrameAreas {  // of the display, in pixels
    ImVec2 dock_min, dock_max;
    float top = 0, timeline = 0, status = 0, rail = 0;  // heights; rail: width
    Width width = Width::wide;
};
[[nodiscard]] FrameAreas frame_areas(const PaneContext& ui, ImVec2 display, bool has_timeline);

// "Explorer###Train wide/Explorer": one ImGui window per panel, workspace and width.
[[nodiscard]] std::string window_name(const PanelRoom& room, Workspace workspace, Width width);
[[nodiscard]] WidgetName pane_name(const PanelRoom& room, Workspace workspace);
// Where the panel stands in this workspace; nullptr = nowhere.
[[nodiscard]] const PanelPlace* place_in(const PanelRoom& room, Workspace workspace);
[[nodiscard]] ImGuiID dock_id(Workspace workspace, Width width);
struct LayoutOf {
    const std::vector<PanelRoom>& rooms;
    Workspace workspace;
    Width width;
};
// Builds the default layout if there is none yet, or if `reset`.
void build_layout(const DrawContext& ui, const LayoutOf& of, ImVec2 size, bool reset);
// The interface scale has changed by `factor`: side panes of all layouts keep their share of it.
// Between frames.
void scale_layouts(float factor);

}  // namespace aft::app
