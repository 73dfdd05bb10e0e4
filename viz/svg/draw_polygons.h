// The triangles of a draw list of Dear ImGui as the polygons they were made of: rectangles, pieces
// of lines, letters and convex shapes. Plain numbers, no OpenGL. Any thread.
#pragma once
#include <imgui.h>

#include <functional>
#include <vector>

#include "viz/look.h"

namespace aft::viz {

struct DrawPolygon {
    std::vector<ImDrawVert> corners = {};  // at least 3, in order
    bool is_joined = false;                // shares a corner with the polygon before it
};

// What the two ways of drawing soft edges have in common: a corner lies outside of the edge. See
// each_polygon.
struct SoftEdges {
    ImVec2 origin = {};    // subtracted from all places
    Box line_texels = {};  // texture coordinates of baked lines; empty: the texture has none
};

// In the order of drawing. Corners of a fringe (alpha 0, beside one of the same colour) and of a
// baked line are moved onto the edge that they soften. Triangles of which nothing is to be seen, or
// with places that are no numbers, are left out. `take` must not keep the polygon.
void each_polygon(const ImDrawList& list, const ImDrawCmd& command, const SoftEdges& soft,
                  const std::function<void(const DrawPolygon&)>& take);

// The mean of the colours, each channel by itself.
[[nodiscard]] ImU32 mean_color(const DrawPolygon& polygon);
[[nodiscard]] Box extent_of(const DrawPolygon& polygon);
// A rectangle along the axes, whichever corner comes first.
[[nodiscard]] bool is_upright_rectangle(const DrawPolygon& polygon);

}  // namespace aft::viz
