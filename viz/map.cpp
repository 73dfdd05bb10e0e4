#include "viz/map.h"

#include <algorithm>
#include <cmath>

#include "viz/map_overlay.h"
#include "viz/numbers.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

struct Margins {
    float left = 0, top = 0;
};

Margins margins_of(const MapView& view, const Look& look) {
    Margins margins;
    if (view.row_label) {
        const TextStyle style{.size = 14};
        const auto width = [&](const std::string& text) {
            return text_extent(look, text, style).x;
        };
        const float widest =
            std::max(width(view.row_label(view.data.rows - 1)), width(view.row_label(0)));
        margins.left = std::ceil(std::max(widest + look.px(10), width(view.corner) + look.px(4)));
    }
    if (view.column_label) margins.top = look.px(22);
    return margins;
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
    const Box all = {place.first, place.cell(data.rows - 1, data.columns - 1).high};
    draw_hidden_ground(look, data, all);
    if (tiles.texture() == ImTextureID_Invalid) return;
    // Whole cells, so that no texel is cut: the clip rectangle does the cutting.
    const CellRange seen = visible_cells(place, data);
    const Box cells = {{float(seen.column_low), float(seen.row_low)},
                       {float(seen.column_high), float(seen.row_high)}};
    const Box uv = tiles.uv(0, cells);
    const ImVec2 low = place.cell(seen.row_low, seen.column_low).low;
    const ImVec2 high = place.cell(seen.row_high - 1, seen.column_high - 1).high;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const bool has_under = view.under != ImTextureID_Invalid;
    const auto part = [&](const ImVec2& at) {
        return ImVec2{at.x / float(data.columns), at.y / float(data.rows)};
    };
    if (has_under) list->AddImage(view.under, low, high, part(cells.low), part(cells.high));
    const float strength = has_under ? view.strength : 1;
    list->AddImage(tiles.texture(), low, high, uv.low, uv.high,
                   with_alpha(rgb(0xFFFFFF), view.dimmed ? 0.55F * strength : strength));
    draw_partly_hidden(look, data, all);
}

}  // namespace

int fit_zoom(ImVec2 area, int64_t rows, int64_t columns, int largest) {
    if (rows <= 0 || columns <= 0) return 1;
    const float both = std::min(area.x / float(columns), area.y / float(rows));
    return std::clamp(static_cast<int>(both), 1, std::max(1, largest));
}

Zoom map_zoom(const MapView& view, ImVec2 area, int wanted, int largest) {
    const int64_t rows = view.data.rows, columns = view.data.columns;
    if (!view.free_axes) {
        const int zoom = wanted > 0 ? wanted : fit_zoom(area, rows, columns, largest);
        return {zoom, zoom};
    }
    const Zoom fit = {fit_zoom({area.x, area.x}, 1, columns, largest),
                      fit_zoom({area.y, area.y}, rows, 1, largest)};
    return {std::max(wanted, fit.across), std::max(wanted, fit.down)};
}

int64_t block_size(int64_t values, float pixels) {
    if (values <= 0 || pixels < 1) return 1;
    const auto available = static_cast<int64_t>(pixels);
    return std::max<int64_t>(1, (values + available - 1) / available);
}

int64_t filling_block(int64_t values, float pixels) {
    const int64_t least = block_size(values, pixels);
    if (least == 1) return 1;
    const auto available = static_cast<int64_t>(pixels);
    const auto covered = [&](int64_t block) {
        const int64_t blocks = (values + block - 1) / block;
        return blocks * std::max<int64_t>(1, available / blocks);
    };
    int64_t best = least;
    for (int64_t block = least; block <= 2 * least; ++block) {
        if (5 * covered(block) >= 4 * available) return block;
        if (covered(block) > covered(best)) best = block;
    }
    return best;
}

// Wheel: zoom at the pointer. Dragging: scroll. A press that does not move: click.
void Map::handle_input(const MapView& view, ImVec2 area, int largest, MapReply& reply) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_over = ImGui::IsItemHovered() && reply.map.contains(io.MousePos);
    if (is_over && io.MouseWheel != 0) {
        const int old = reply.zoom.least();
        const int step = std::max(1, old / 4);
        const int wanted = std::clamp(old + (io.MouseWheel > 0 ? step : -step), 1, 256);
        zoom_ = std::max(wanted, zoom_ == 0 ? old : 1);
        const Zoom now = map_zoom(view, area, zoom_, largest);
        const ImVec2 at = {io.MousePos.x - reply.map.low.x, io.MousePos.y - reply.map.low.y};
        left_ = (left_ + at.x) * float(now.across) / float(reply.zoom.across) - at.x;
        top_ = (top_ + at.y) * float(now.down) / float(reply.zoom.down) - at.y;
        reply.zoomed = true;
    }
    const bool is_drag =
        !view.selects && ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left);
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

// From the cell that was pressed to the one under the pointer, which may leave the map.
void Map::select_region(const MapView& view, const MapPlace& place, MapReply& reply) {
    if (ImGui::IsItemActivated()) pressed_ = reply.hovered;
    if (!pressed_.is_valid() || !(ImGui::IsItemActive() || ImGui::IsItemDeactivated())) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const Box& map = place.map;
    const MapCell now = cell_at(place, view.data,
                                {std::clamp(mouse.x, map.low.x, map.high.x - 0.5F),
                                 std::clamp(mouse.y, map.low.y, map.high.y - 0.5F)});
    if (!now.is_valid()) return;
    reply.region = {{std::min(pressed_.row, now.row), std::min(pressed_.column, now.column)},
                    {std::max(pressed_.row, now.row), std::max(pressed_.column, now.column)}};
    if (!ImGui::IsItemDeactivated()) return;
    reply.is_region_done = true;
    pressed_ = {};
}

MapReply Map::draw(const MapView& view, const Look& look) {
    MapReply reply;
    const MapData& data = view.data;
    if (data.rows <= 0 || data.columns <= 0 || data.values.empty()) {
        ImGui::Dummy(view.area);
        return reply;
    }
    if (look.numbers != nullptr) look.numbers->add(view.id, map_numbers(data));
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const Margins margins = margins_of(view, look);
    const ImVec2 area = {std::max(1.0F, view.area.x - margins.left),
                         std::max(1.0F, view.area.y - margins.top)};
    const int largest = int(look.px(float(view.max_fit)));
    const Zoom zoom = map_zoom(view, area, view.zoom > 0 ? view.zoom : zoom_, largest);
    const ImVec2 full = {float(zoom.across * data.columns), float(zoom.down * data.rows)};
    const ImVec2 size = {std::min(full.x, area.x), std::min(full.y, area.y)};
    if (shown_.is_valid()) {
        left_ = (float(shown_.column) + 0.5F) * float(zoom.across) - size.x / 2;
        top_ = (float(shown_.row) + 0.5F) * float(zoom.down) - size.y / 2;
        shown_ = {};
    }
    left_ = std::round(std::clamp(left_, 0.0F, full.x - size.x));
    top_ = std::round(std::clamp(top_, 0.0F, full.y - size.y));

    MapPlace place;
    place.map.low = {corner.x + margins.left, corner.y + margins.top};
    place.map.high = {place.map.low.x + size.x, place.map.low.y + size.y};
    place.first = {place.map.low.x - left_, place.map.low.y - top_};
    place.zoom = float(zoom.down);
    place.width = float(zoom.across);
    ImGui::SetCursorScreenPos(place.map.low);
    ImGui::InvisibleButton(view.id, size);
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    reply.map = place.map;
    reply.zoom = zoom;
    if (ImGui::IsItemHovered()) reply.hovered = cell_at(place, data, ImGui::GetIO().MousePos);
    handle_input(view, area, largest, reply);
    if (view.selects) select_region(view, place, reply);

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
