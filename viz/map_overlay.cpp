#include "viz/map_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

// Distance between axis numbers: multiples of `hint`, else 1, 2, 5, 10, ... so that they keep
// `available` pixels.
int64_t label_step(int64_t hint, float zoom, float available) {
    const auto least = static_cast<int64_t>(std::ceil(available / zoom));
    if (hint > 0 && hint < least * 4) return hint * ((least + hint - 1) / hint);
    for (int64_t decade = 1;; decade *= 10)
        for (const int64_t k : {1, 2, 5})
            if (decade * k >= least) return decade * k;
}

// The first cell from `low` on that is a multiple of `step` away from `origin`.
int64_t first_label(int64_t low, int64_t origin, int64_t step) {
    const int64_t past = (low - origin) % step;
    return past == 0 ? low : low + (past > 0 ? step : 0) - past;
}

// Returns where the first of them begins, the end of the map without any.
float column_numbers(const MapView& view, const MapPlace& place, const Look& look) {
    const CellRange seen = visible_cells(place, view.data);
    const std::string widest = view.column_label(view.data.columns - 1);
    const TextStyle plain{.size = 14, .color = look.theme.text3, .align = Align::centre};
    const float available = text_extent(look, widest, plain).x + look.px(10);
    const int64_t step = label_step(view.column_step, place.width, available);
    float first = place.map.high.x;
    for (int64_t c = first_label(seen.column_low, view.column_origin, step); c < seen.column_high;
         c += step) {
        const std::string words = view.column_label(c);
        if (words.empty()) continue;
        const Box box = place.cell(0, c);
        const float x = seen_middle(box.low.x, box.high.x, place.map.low.x, place.map.high.x);
        const bool chosen = view.source.column == c || view.target.column == c;
        TextStyle style = plain;
        style.color = chosen ? look.theme.text1 : look.theme.text3;
        style.face = chosen ? Face::medium : Face::regular;
        const float width = text_at(look, {x, place.map.low.y - look.px(20)}, words, style);
        first = std::min(first, x - width / 2);
    }
    return first;
}

// Returns the top of the first of them, the end of the map without any.
float row_numbers(const MapView& view, const MapPlace& place, const Look& look) {
    const CellRange seen = visible_cells(place, view.data);
    const int64_t step = label_step(view.row_step, place.zoom, look.px(20));
    float first = place.map.high.y;
    for (int64_t r = first_label(seen.row_low, view.row_origin, step); r < seen.row_high;
         r += step) {
        const std::string words = view.row_label(r);
        if (words.empty()) continue;
        const Box box = place.cell(r, 0);
        const bool chosen = view.source.row == r || view.target.row == r;
        const TextStyle style{.size = 14,
                              .color = chosen ? look.theme.text1 : look.theme.text3,
                              .face = chosen ? Face::medium : Face::regular,
                              .align = Align::right};
        const float y =
            seen_middle(box.low.y, box.high.y, place.map.low.y, place.map.high.y) - look.px(7);
        text_at(look, {place.map.low.x - look.px(8), y}, words, style);
        first = std::min(first, y);
    }
    return first;
}

ImU32 packed(const Rgb& color) {
    return IM_COL32(color[0], color[1], color[2], 255);
}

}  // namespace

float seen_middle(float low, float high, float from, float to) {
    return (std::clamp(low, from, to) + std::clamp(high, from, to)) / 2;
}

CellRange visible_cells(const MapPlace& place, const MapData& data) {
    const auto index = [](float at, float size, int64_t end) {
        return std::clamp<int64_t>(static_cast<int64_t>(std::floor(at / size)), 0, end);
    };
    const float x = place.map.low.x - place.first.x, y = place.map.low.y - place.first.y;
    return {index(y, place.zoom, data.rows),
            index(y + place.map.height() - 0.01F, place.zoom, data.rows - 1) + 1,
            index(x, place.width, data.columns),
            index(x + place.map.width() - 0.01F, place.width, data.columns - 1) + 1};
}

void draw_axis_numbers(const MapView& view, const MapPlace& place, const Look& look) {
    float left = place.map.high.x, top = place.map.high.y;
    if (view.column_label) left = column_numbers(view, place, look);
    if (view.row_label) top = row_numbers(view, place, look);
    // Left out where a number stands in its place.
    const ImVec2 end = {place.map.low.x - look.px(2), place.map.low.y - look.px(4)};
    if (view.corner.empty() || left < end.x + look.px(4) || top < end.y) return;
    const TextStyle style{.size = 14, .color = look.theme.text3, .align = Align::right};
    text_at(look, {place.map.low.x - look.px(2), place.map.low.y - look.px(20)}, view.corner,
            style);
}

void draw_cell_numbers(const MapView& view, const MapPlace& place, const Look& look) {
    const float cell = place.least();
    if (!view.numbers || cell < 44 * look.scale) return;
    // They come in between 44 and 52 pixels a cell.
    const float strength = std::min(1.0F, 0.4F + 0.6F * (cell / look.scale - 44) / 8);
    const int decimals = cell >= 88 * look.scale ? 4 : 2;
    // Numbers that decimals would call 0 have powers of ten, where there is space for them.
    const Range& range = view.coloring.range;
    const bool is_tiny = std::max(std::abs(range.low), std::abs(range.high)) < 0.05F;
    if (is_tiny && cell < 72 * look.scale) return;
    const auto words = [&](float v) {
        if (is_tiny && v != 0) return scientific(v, decimals / 2);
        if (is_tiny) return std::string("0");
        return view.is_signed ? signed_number(v, decimals) : plain_number(v, decimals);
    };
    const CellRange seen = visible_cells(place, view.data);
    for (int64_t r = seen.row_low; r < seen.row_high; ++r) {
        for (int64_t c = seen.column_low; c < seen.column_high; ++c) {
            const float v = view.data.at(r, c);
            if (view.data.is_hidden(r, c) || !std::isfinite(v)) continue;
            const Coloring& k = view.coloring;
            const TextStyle style{
                .size = 15,
                .color =
                    with_alpha(ink_on(packed(map_color(v, k.range, k.scale, k.map))), strength),
                .align = Align::centre};
            const Box box = place.cell(r, c);
            text_at(look, {(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2 - look.px(8)},
                    words(v), style);
        }
    }
}

void draw_cells_not_finite(const MapView& view, const MapPlace& place, const Look& look) {
    if (place.least() < 8) return;  // the shader's colour is all there is space for
    const CellRange seen = visible_cells(place, view.data);
    for (int64_t r = seen.row_low; r < seen.row_high; ++r)
        for (int64_t c = seen.column_low; c < seen.column_high; ++c)
            if (!std::isfinite(view.data.at(r, c)) && !view.data.is_hidden(r, c))
                draw_not_finite(look, place.cell(r, c), view.data.at(r, c));
}

namespace {

void draw_cross_hair(const MapView& view, const MapPlace& place) {
    if (!view.cross_hair || !view.source.is_valid()) return;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const Box box = place.cell(view.source.row, view.source.column);
    const ImU32 white = with_alpha(rgb(0xFFFFFF), 0.35F);
    const ImVec2 middle = {std::floor((box.low.x + box.high.x) / 2) + 0.5F,
                           std::floor((box.low.y + box.high.y) / 2) + 0.5F};
    // Its dark rim shows it where the map is light.
    const auto draw = [&](ImU32 color, float thick) {
        list->AddLine({place.map.low.x, middle.y}, {place.map.high.x, middle.y}, color, thick);
        list->AddLine({middle.x, place.map.low.y}, {middle.x, place.map.high.y}, color, thick);
    };
    draw(with_alpha(rgb(0x0B0C0E), 0.3F), 3);
    draw(white, 1);
}

void draw_row_band(const MapView& view, const MapPlace& place, const Look& look) {
    if (!view.row_band || view.target.row < 0) return;
    const Box box = place.cell(view.target.row, 0);
    const float rim = look.px(1);  // the inner one, too, stands around the row: it may be a pixel
    draw_ring(
        look,
        {{place.map.low.x - rim, box.low.y - rim}, {place.map.high.x + rim, box.high.y + rim}},
        look.theme.accent, 2);
}

// Round a tiny cell: its lines above and below are those of the band.
void draw_target_in_band(const MapView& view, const MapPlace& place, const Look& look) {
    if (!view.target.is_valid()) return;
    Box box = place.cell(view.target.row, view.target.column);
    const float rim = look.px(1);
    const float out = std::max(rim, std::ceil((look.px(3) - box.width()) / 2));
    box = {{box.low.x - out, box.low.y - rim}, {box.high.x + out, box.high.y + rim}};
    draw_open_ring(look, box, look.theme.accent, 2);
}

void draw_region(const MapView& view, const MapPlace& place, const Look& look) {
    if (!view.region.is_valid()) return;
    const Box first = place.cell(view.region.first.row, view.region.first.column);
    const Box last = place.cell(view.region.last.row, view.region.last.column);
    const float out = look.px(1);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRect({first.low.x - out, first.low.y - out}, {last.high.x + out, last.high.y + out},
                  rgb(0x0B0C0E), 0, 0, look.px(3));
    list->AddRect({first.low.x - out, first.low.y - out}, {last.high.x + out, last.high.y + out},
                  look.theme.accent, 0, 0, look.px(1.5F));
}

}  // namespace

void draw_marks(const MapView& view, const MapPlace& place, const Look& look) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const float out = ring_reach(look, place.least());  // of an edge cell
    list->PushClipRect({place.map.low.x - out, place.map.low.y - out},
                       {place.map.high.x + out, place.map.high.y + out}, true);
    draw_row_band(view, place, look);
    draw_cross_hair(view, place);
    draw_region(view, place, look);
    const Box source = place.cell(view.source.row, view.source.column);
    const Box target = place.cell(view.target.row, view.target.column);
    const bool is_in_band = view.row_band && is_tiny_cell(look, place.least());
    if (is_in_band) draw_target_in_band(view, place, look);
    draw_cell_rings(look, view.source.is_valid() ? &source : nullptr,
                    view.target.is_valid() && !is_in_band ? &target : nullptr);
    if (view.pinned.is_valid()) {
        const Box box = place.cell(view.pinned.row, view.pinned.column);
        list->AddCircleFilled({box.high.x, box.low.y}, look.px(3), look.theme.accent);
    }
    list->PopClipRect();
}

}  // namespace aft::viz
