#include "viz/svg/draw_polygons.h"

#include <algorithm>
#include <cmath>

namespace aft::viz {
namespace {

constexpr ImU32 kAlpha = IM_COL32_A_MASK;

struct Corners {  // of a command
    const ImDrawVert* vertices = nullptr;
    int count = 0;
};

// The corner nearest to `index` that `fits`, among those written just before and after it.
template <class Fits>
const ImDrawVert* partner(const Corners& all, int index, const Fits& fits) {
    constexpr int kReach = 3;
    const ImDrawVert* best = nullptr;
    float least = 0;
    const ImVec2 at = all.vertices[index].pos;
    for (int i = std::max(0, index - kReach); i <= std::min(all.count - 1, index + kReach); ++i) {
        const ImDrawVert& other = all.vertices[i];
        if (i == index || !fits(other)) continue;
        const float distance = std::hypot(other.pos.x - at.x, other.pos.y - at.y);
        if (best == nullptr || distance < least) {
            best = &other;
            least = distance;
        }
    }
    return best;
}

// A fringe is a pixel wide, and its middle is the edge.
ImDrawVert without_fringe(const Corners& all, int index) {
    ImDrawVert out = all.vertices[index];
    if ((out.col & kAlpha) != 0) return out;
    const ImDrawVert* const inner = partner(all, index, [&](const ImDrawVert& other) {
        return (other.col & kAlpha) != 0 && (other.col & ~kAlpha) == (out.col & ~kAlpha);
    });
    if (inner == nullptr) return out;
    out.pos = {(out.pos.x + inner->pos.x) / 2, (out.pos.y + inner->pos.y) / 2};
    out.col = inner->col;
    return out;
}

// A baked line is drawn a pixel wider on each side.
ImDrawVert on_baked_line(const Corners& all, int index) {
    ImDrawVert out = all.vertices[index];
    const ImDrawVert* const across = partner(all, index, [&](const ImDrawVert& other) {
        return other.uv.y == out.uv.y && other.uv.x != out.uv.x && other.col == out.col;
    });
    if (across == nullptr) return out;
    const ImVec2 way = {across->pos.x - out.pos.x, across->pos.y - out.pos.y};
    const float width = std::hypot(way.x, way.y);
    if (width > 2) out.pos = {out.pos.x + way.x / width, out.pos.y + way.y / width};
    return out;
}

// How many indices from `at` on are a fan: (a b c) (a c d) (a d e) ...
unsigned fan_length(const ImDrawIdx* at, unsigned left) {
    unsigned length = 3;
    while (length + 3 <= left && at[length] == at[0] && at[length + 1] == at[length - 1] &&
           at[length + 2] != at[length + 1])
        length += 3;
    return length;
}

bool is_visible(const DrawPolygon& polygon) {
    bool is_finite = true, has_color = false;
    for (const ImDrawVert& corner : polygon.corners) {
        is_finite = is_finite && std::isfinite(corner.pos.x) && std::isfinite(corner.pos.y);
        has_color = has_color || (corner.col & kAlpha) != 0;
    }
    const Box box = is_finite ? extent_of(polygon) : Box{};
    return has_color && box.width() > 0 && box.height() > 0;
}

}  // namespace

void each_polygon(const ImDrawList& list, const ImDrawCmd& command, const SoftEdges& soft,
                  const std::function<void(const DrawPolygon&)>& take) {
    const Corners all{list.VtxBuffer.Data + command.VtxOffset,
                      list.VtxBuffer.Size - int(command.VtxOffset)};
    const ImDrawIdx* const indices = list.IdxBuffer.Data + command.IdxOffset;
    DrawPolygon polygon;
    std::vector<int> corners;
    int highest = -1;  // of the polygons so far: every shape writes corners of its own
    for (unsigned i = 0; i + 3 <= command.ElemCount;) {
        const unsigned length = fan_length(indices + i, command.ElemCount - i);
        corners.assign({indices[i], indices[i + 1], indices[i + 2]});
        for (unsigned k = 5; k < length; k += 3) corners.push_back(indices[i + k]);
        i += length;

        const bool is_baked = std::all_of(corners.begin(), corners.end(), [&](int index) {
            return soft.line_texels.contains(all.vertices[index].uv);
        });
        // Four corners are no fringe: they may be a rectangle that fades out.
        const bool may_be_fringe = corners.size() != 4;
        polygon.corners.clear();
        for (const int index : corners) {
            ImDrawVert corner = is_baked        ? on_baked_line(all, index)
                                : may_be_fringe ? without_fringe(all, index)
                                                : all.vertices[index];
            corner.pos = {corner.pos.x - soft.origin.x, corner.pos.y - soft.origin.y};
            polygon.corners.push_back(corner);
        }
        const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
        polygon.is_joined = *low <= highest;
        highest = std::max(highest, *high);
        if (is_visible(polygon)) take(polygon);
    }
}

ImU32 mean_color(const DrawPolygon& polygon) {
    ImU32 out = 0;
    const auto count = ImU32(polygon.corners.size());
    for (const int shift :
         {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT, IM_COL32_A_SHIFT}) {
        ImU32 sum = count / 2;
        for (const ImDrawVert& corner : polygon.corners) sum += corner.col >> shift & 0xFFU;
        out |= sum / count << shift;
    }
    return out;
}

Box extent_of(const DrawPolygon& polygon) {
    Box out{polygon.corners[0].pos, polygon.corners[0].pos};
    for (const ImDrawVert& corner : polygon.corners) {
        out.low = {std::min(out.low.x, corner.pos.x), std::min(out.low.y, corner.pos.y)};
        out.high = {std::max(out.high.x, corner.pos.x), std::max(out.high.y, corner.pos.y)};
    }
    return out;
}

bool is_upright_rectangle(const DrawPolygon& polygon) {
    if (polygon.corners.size() != 4) return false;
    const auto same = [](float a, float b) { return std::abs(a - b) < 0.002F; };
    const auto at = [&](size_t i) { return polygon.corners[i].pos; };
    const bool first_is_level = same(at(0).y, at(1).y) && same(at(1).x, at(2).x) &&
                                same(at(2).y, at(3).y) && same(at(3).x, at(0).x);
    const bool first_is_plumb = same(at(0).x, at(1).x) && same(at(1).y, at(2).y) &&
                                same(at(2).x, at(3).x) && same(at(3).y, at(0).y);
    return first_is_level || first_is_plumb;
}

}  // namespace aft::viz
