#include "viz/map.h"

#include <algorithm>
#include <cmath>

#include "viz/map_overlay.h"

namespace aft::viz {
namespace {

struct Margins {
    float left = 0, top = 0;
};

Margins margins_of(const MapView& view, const Look& look) {
    Margins room;
    if (view.row_label) {
        const TextStyle style{.size = 14};
        const auto width = [&](const std::string& text) { return text_size(look, style, text).x; };
        const float widest =
            std::max(width(view.row_label(view.data.rows - 1)), width(view.row_label(0)));
        room.left = std::ceil(std::max(widest + look.px(10), width(view.corner) + look.px(4)));
    }
    if (view.column_label) room.top = look.px(22);
    return room;
}

MapCell cell_at(const MapPlace& place, const MapData& data, ImVec2 at) {
    if (!place.map.contains(at)) return {};
    const MapCell cell{static_cast<int64_t>((at.y - place.first.y) / place.zoom),
                       static_cast<int64_t>((at.x - place.first.x) / place.width)};
    return cell.row < data.rows && cell.column < data.columns ? cell : MapCell{};
}

void draw_picture(const MapView& view, const MapPlace& place, const Look& look, Tiles& tiles) {
    const MapData& data = view.data;
    tiles.resize(1, data.rows, data.columns);
    tiles.set(0, data, view.coloring, look);
    if (!data.hidden.empty()) draw_hatch(look, place.map);
    if (tiles.texture() == ImTextureID_Invalid) return;
    // Whole cells, so that no texel is cut: the clip rectangle does the cutting.
    const CellRange seen = visible_cells(place, data);
    const Box cells = {{float(seen.column_low), float(seen.row_low)},
                       {float(seen.column_high), float(seen.row_high)}};
    const Box uv = tiles.uv(0, cells);
    const ImVec2 low = place.cell(seen.row_low, seen.column_low).low;
    const ImVec2 high = place.cell(seen.row_high - 1, seen.column_high - 1).high;
    ImGui::GetWindowDrawList()->AddImage(tiles.texture(), low, high, uv.low, uv.high,
                                         ink(0xFFFFFF, view.dimmed ? 0.55F : 1.0F));
}

}  // namespace

int fit_zoom(ImVec2 area, int64_t rows, int64_t columns, int largest) {
    if (rows <= 0 || columns <= 0) return 1;
    const float both = std::min(area.x / float(columns), area.y / float(rows));
    return std::clamp(static_cast<int>(both), 1, std::max(1, largest));
}

int64_t block_size(int64_t values, float pixels) {
    if (values <= 0 || pixels < 1) return 1;
    const auto room = static_cast<int64_t>(pixels);
    return std::max<int64_t>(1, (values + room - 1) / room);
}

// Wheel: zoom at the pointer. Dragging: scroll. A press that does not move: click.
void Map::handle_input(const MapView& view, MapReply& reply) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_over = ImGui::IsItemHovered() && reply.map.contains(io.MousePos);
    if (is_over && io.MouseWheel != 0) {
        const int old = reply.zoom, fit = view.zoom > 0 ? view.zoom : reply.zoom;
        const int step = std::max(1, old / 4);
        const int wanted = std::clamp(old + (io.MouseWheel > 0 ? step : -step), 1, 256);
        const int least = zoom_ == 0 ? fit : 1;
        zoom_ = std::max(wanted, least);
        const float ratio = float(zoom_) / float(old);
        const ImVec2 at = {io.MousePos.x - reply.map.low.x, io.MousePos.y - reply.map.low.y};
        left_ = (left_ + at.x) * ratio - at.x;
        top_ = (top_ + at.y) * ratio - at.y;
        reply.zoomed = true;
    }
    const bool is_drag = ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left);
    if (is_drag || (is_over && ImGui::IsMouseDragging(ImGuiMouseButton_Middle))) {
        left_ -= io.MouseDelta.x;
        top_ -= io.MouseDelta.y;
        reply.zoomed = true;
    }
    const float still = io.MouseDragThreshold * io.MouseDragThreshold;
    if (is_over && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::IsItemDeactivated() &&
        io.MouseDragMaxDistanceSqr[0] <= still)
        reply.clicked = reply.hovered;
    if (is_over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        reply.double_clicked = reply.hovered;
}

MapReply Map::draw(const MapView& view, const Look& look) {
    MapReply reply;
    const MapData& data = view.data;
    if (data.rows <= 0 || data.columns <= 0 || data.values.empty()) {
        ImGui::Dummy(view.area);
        return reply;
    }
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const Margins room = margins_of(view, look);
    const ImVec2 area = {std::max(1.0F, view.area.x - room.left),
                         std::max(1.0F, view.area.y - room.top)};
    const int stretch = std::max(1, view.stretch);
    const int fit =
        fit_zoom(area, data.rows, data.columns * stretch, int(look.px(float(view.max_fit))));
    const int zoom = view.zoom > 0 ? view.zoom : std::max(zoom_, zoom_ == 0 ? fit : 1);
    const ImVec2 full = {float(zoom * stretch * data.columns), float(zoom * data.rows)};
    const ImVec2 size = {std::min(full.x, area.x), std::min(full.y, area.y)};
    if (shown_.is_valid()) {
        left_ = (float(shown_.column) + 0.5F) * float(zoom * stretch) - size.x / 2;
        top_ = (float(shown_.row) + 0.5F) * float(zoom) - size.y / 2;
        shown_ = {};
    }
    left_ = std::round(std::clamp(left_, 0.0F, full.x - size.x));
    top_ = std::round(std::clamp(top_, 0.0F, full.y - size.y));

    MapPlace place;
    place.map.low = {corner.x + room.left, corner.y + room.top};
    place.map.high = {place.map.low.x + size.x, place.map.low.y + size.y};
    place.first = {place.map.low.x - left_, place.map.low.y - top_};
    place.zoom = float(zoom);
    place.width = float(zoom * stretch);
    ImGui::SetCursorScreenPos(place.map.low);
    ImGui::InvisibleButton(view.id, size);
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    reply.map = place.map;
    reply.zoom = zoom;
    if (ImGui::IsItemHovered()) reply.hovered = cell_at(place, data, ImGui::GetIO().MousePos);
    handle_input(view, reply);

    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(place.map.low, place.map.high, true);
    draw_picture(view, place, look, tiles_);
    draw_cells_not_finite(view, place, look);
    draw_cell_numbers(view, place, look);
    list->PopClipRect();
    draw_axis_numbers(view, place, look);
    draw_marks(view, place, look);
    return reply;
}

}  // namespace aft::viz
