#include "viz/atlas.h"

#include <algorithm>
#include <cmath>

#include "viz/color_bar.h"
#include "viz/numbers.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

constexpr float kGap = 2;          // least distance between maps
constexpr float kBeforeNext = 12;  // of a caption to the next map's name
constexpr float kLabelSize = 14;
constexpr float kMostZoom = 128;  // pixels per value at scale 1

ImVec2 space_for_maps(const AtlasShape& shape, ImVec2 area) {
    return {area.x - shape.row_label - shape.row_bar,
            area.y - shape.column_label - float(shape.rows) * shape.cell_label};
}

// Left-over space between `count` maps of `tile` pixels, at most a quarter of the pitch.
float spread(float available, int count, float tile, float least) {
    const float pitch = std::floor(available / float(std::max(1, count)));
    return std::clamp(pitch, tile + least, std::floor(tile / 0.75F));
}

void draw_map(const AtlasView& view, const AtlasCell& cell, const Box& box, const Look& look) {
    if (cell.data.values.empty()) {
        draw_hatch(look, box);
        return;
    }
    if (cell.changed)
        ImGui::GetWindowDrawList()->AddTriangleFilled(box.low, {box.low.x + look.px(8), box.low.y},
                                                      {box.low.x, box.low.y + look.px(8)},
                                                      look.theme.accent);
    if (cell.pinned) {
        ImDrawList* const list = ImGui::GetWindowDrawList();
        list->AddCircleFilled({box.high.x - look.px(1), box.low.y - look.px(1)}, look.px(3.5F),
                              look.theme.accent);
    }
    if (!view.mark.is_valid()) return;
    const ImVec2 one = {box.width() / float(cell.data.columns),
                        box.height() / float(cell.data.rows)};
    const ImVec2 low = {box.low.x + one.x * float(view.mark.column),
                        box.low.y + one.y * float(view.mark.row)};
    // A cell of one pixel would not be found: the ring stands round at least five.
    const ImVec2 out = {std::max(0.0F, (look.px(5) - one.x) / 2),
                        std::max(0.0F, (look.px(5) - one.y) / 2)};
    draw_ring(look,
              {{low.x - out.x, low.y - out.y}, {low.x + one.x + out.x, low.y + one.y + out.y}},
              look.theme.accent, 1);
}

struct LabelPlaces {  // from the map's left edge
    AtlasCaption what = AtlasCaption::full;
    TextStyle name, number;
    float text_end = 0, bar_low = 0,
          bar_high = 0;  // where the number ends; the meter between name and number
};

struct CaptionSpace {
    float width;  // of the map
    float after;  // free space at its right, up to the next map's name
};

LabelPlaces label_places(const AtlasCell& cell, const CaptionSpace& space, bool chosen,
                         const Look& look) {
    LabelPlaces out{
        .what = {},
        .name = {.size = kLabelSize,
                 .color = chosen ? look.theme.text1 : look.theme.text3,
                 .face = chosen ? Face::medium : Face::regular},
        .number = {.size = kLabelSize, .color = look.theme.text2, .align = Align::right}};
    // It ends with the map, but for the least distance to the next map's name.
    out.text_end = space.width - std::max(0.0F, look.px(kBeforeNext) - space.after);
    out.bar_low = std::max(text_extent(look, cell.label, out.name).x, look.px(24)) + look.px(6);
    out.bar_high = out.text_end - text_extent(look, cell.bar_text, out.number).x - look.px(6);
    return out;
}

struct CaptionPlan {
    AtlasCaption what = AtlasCaption::full;
    int stride = 1;
};

CaptionPlan plan_captions(const AtlasView& view, const AtlasLayout& layout, const Look& look) {
    const TextStyle name{.size = kLabelSize, .face = Face::medium};  // as the chosen one
    const TextStyle number{.size = kLabelSize};
    const float gap = look.px(6), pitch = layout.pitch.x - look.px(kBeforeNext);
    // The space between the maps keeps the next label away, too.
    const float behind = std::max(0.0F, look.px(kBeforeNext) - (layout.pitch.x - layout.tile.x));
    float both = 0, label = 0, brief = 0;
    for (const AtlasCell& cell : view.cells) {
        const float own = text_extent(look, cell.label, name).x;
        const float beside = cell.bar_text.empty() ? 0 : text_extent(look, cell.bar_text, number).x;
        label = std::max(label, own);
        both = std::max(both, beside > 0 ? own + gap + beside + behind : 0);
        brief = std::max(brief, cell.brief.empty() ? own : text_extent(look, cell.brief, name).x);
    }
    if (both <= layout.tile.x && label <= pitch) return {};
    if (label <= pitch) return {AtlasCaption::label, 1};
    const int stride = static_cast<int>(std::ceil(brief / std::max(1.0F, pitch)));
    return {AtlasCaption::brief, std::max(1, stride)};
}

// One meter alone would read as if the others were empty.
bool have_bars_space(const AtlasView& view, float width, const Look& look) {
    bool any = false;
    for (const AtlasCell& cell : view.cells) {
        if (cell.bar < 0) continue;
        const LabelPlaces places = label_places(cell, {width, look.px(kGap)}, true, look);
        if (places.bar_high - places.bar_low < look.px(8)) return false;
        any = true;
    }
    return any && view.shape.cell_label > 0;
}

void draw_cell_label(const AtlasCell& cell, const Box& box, const LabelPlaces& places,
                     const Look& look) {
    const float y = box.high.y + look.px(3);
    const bool is_brief = places.what == AtlasCaption::brief && !cell.brief.empty();
    text_at(look, {box.low.x, y}, is_brief ? cell.brief : cell.label, places.name);
    if (places.what == AtlasCaption::full)
        text_at(look, {box.low.x + places.text_end, y}, cell.bar_text, places.number);
}

void draw_cell_bar(const AtlasCell& cell, const Box& box, const LabelPlaces& places,
                   const Look& look) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const float left = box.low.x + places.bar_low, right = box.low.x + places.bar_high;
    const float middle = box.high.y + look.px(3) + look.px(8), half = look.px(1.5F);
    list->AddRectFilled({left, middle - half}, {right, middle + half}, look.theme.line);
    const float end = left + (right - left) * float(std::clamp(cell.bar, 0.0, 1.0));
    list->AddRectFilled({left, middle - half}, {end, middle + half}, look.theme.accent);
}

struct AtlasFrame {  // one frame of an atlas
    const AtlasView& view;
    const Look& look;
    const AtlasLayout& layout;
    ImVec2 corner;  // of the area on screen, scroll included
    AtlasHit hovered;
    bool has_bars = false;
    CaptionPlan captions{};

    [[nodiscard]] Box box(int row, int column) const {
        Box b = layout.cell(row, column);
        b.low = {b.low.x + corner.x, b.low.y + corner.y};
        b.high = {b.high.x + corner.x, b.high.y + corner.y};
        return b;
    }
    [[nodiscard]] const AtlasCell* cell(int row, int column) const {
        const auto i = size_t(row) * size_t(view.shape.columns) + size_t(column);
        return i < view.cells.size() ? &view.cells[i] : nullptr;
    }
};

void draw_row_ground(const AtlasFrame& s) {
    const int row = s.view.selected_row;
    if (!s.view.raise_selected_row || row < 0 || row >= s.view.shape.rows) return;
    const float label = s.view.shape.cell_label;
    const float gap = std::max(0.0F, s.layout.pitch.y - s.layout.tile.y - label) / 2;
    const Box first = s.box(row, 0);
    const float right = s.corner.x + s.view.area.x;
    ImGui::GetWindowDrawList()->AddRectFilled({s.corner.x, std::floor(first.low.y - gap)},
                                              {right, std::ceil(first.high.y + label + gap)},
                                              s.look.theme.raised);
}

void draw_labels(const AtlasFrame& s) {
    const auto style = [&](bool chosen, Align align) {
        return TextStyle{.size = kLabelSize,
                         .color = chosen ? s.look.theme.text1 : s.look.theme.text3,
                         .face = chosen ? Face::medium : Face::regular,
                         .align = align};
    };
    // Every n-th where the maps stand closer than their names.
    float widest = 1;
    for (const std::string& words : s.view.column_labels)
        widest = std::max(widest, text_extent(s.look, words, style(true, Align::left)).x);
    const auto stride = [](float needed, float pitch) {
        return static_cast<size_t>(std::max(1.0F, std::ceil(needed / std::max(1.0F, pitch))));
    };
    const size_t down = stride(s.look.px(16), s.layout.pitch.y);
    const size_t across = stride(widest + s.look.px(4), s.layout.pitch.x);
    for (size_t r = 0; r < s.view.row_labels.size(); r += down) {
        const Box box = s.box(int(r), 0);
        const float y = (box.low.y + box.high.y) / 2 - s.look.px(8);
        TextStyle of_row = style(int(r) == s.view.selected_row, Align::left);
        of_row.max_width = s.view.shape.row_label - s.look.px(4);
        text_at(s.look, {s.corner.x, y}, s.view.row_labels[r], of_row);
    }
    for (size_t c = 0; c < s.view.column_labels.size(); c += across) {
        const Box box = s.box(0, int(c));
        text_at(s.look, {(box.low.x + box.high.x) / 2, box.low.y - s.look.px(20)},
                s.view.column_labels[c], style(int(c) == s.view.selected_column, Align::centre));
    }
}

void draw_row_bars(const AtlasFrame& s) {
    if (s.view.shape.row_bar <= 0) return;
    for (int r = 0; r < s.view.shape.rows; ++r) {
        const AtlasCell* const cell = s.cell(r, 0);
        const auto row = size_t(r);  // a further line of the same row has no label and no bar
        if (row < s.view.row_labels.size() && s.view.row_labels[row].empty()) continue;
        if (cell == nullptr || cell->data.values.empty()) continue;
        const Box last = s.box(r, s.view.shape.columns - 1);
        const float height = s.look.px(8 + 4 + 14);
        const float y = last.low.y + std::max(0.0F, (last.height() - height) / 2);
        draw_small_bar(s.look, {last.high.x + s.look.px(20), std::floor(y)}, cell->coloring);
    }
}

void draw_maps(const AtlasFrame& s, Tiles& tiles) {
    const AtlasShape& shape = s.view.shape;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    for (size_t i = 0; i < s.view.cells.size(); ++i) {
        const AtlasCell& cell = s.view.cells[i];
        const int row = int(i) / shape.columns, column = int(i) % shape.columns;
        const Box box = s.box(row, column);
        if (!ImGui::IsRectVisible(box.low, box.high)) continue;
        tiles.set(int(i), cell.data, cell.coloring, s.look);
        if (!cell.data.values.empty()) draw_hidden_ground(s.look, cell.data, box);
        if (!cell.data.values.empty() && tiles.texture() != ImTextureID_Invalid) {
            const Box uv =
                tiles.uv(int(i), {{0, 0}, {float(cell.data.columns), float(cell.data.rows)}});
            list->AddImage(tiles.texture(), box.low, box.high, uv.low, uv.high,
                           with_alpha(rgb(0xFFFFFF), cell.dimmed ? 0.55F : 1.0F));
        }
        draw_partly_hidden(s.look, cell.data, box);
        draw_map(s.view, cell, box, s.look);
        const bool chosen = row == s.view.selected_row && column == s.view.selected_column;
        if (shape.cell_label <= 0 || column % s.captions.stride != 0) continue;
        // Meters are as long in the last column as in the others.
        const bool has_next = column + 1 < shape.columns || cell.bar >= 0;
        const float after = has_next ? s.layout.pitch.x - box.width() : s.view.area.x;
        LabelPlaces places = label_places(cell, {box.width(), after}, chosen, s.look);
        places.what = s.captions.what;
        draw_cell_label(cell, box, places, s.look);
        if (s.has_bars && cell.bar >= 0) draw_cell_bar(cell, box, places, s.look);
    }
}

void draw_rings(const AtlasFrame& s) {
    if (s.hovered.is_valid())
        draw_ring(s.look, s.box(s.hovered.row, s.hovered.column), rgb(0xFFFFFF), 1);
    if (s.view.selected_row >= 0 && s.view.selected_column >= 0 &&
        s.cell(s.view.selected_row, s.view.selected_column) != nullptr)
        draw_ring(s.look, s.box(s.view.selected_row, s.view.selected_column), s.look.theme.accent,
                  2);
}

}  // namespace

Box AtlasLayout::cell(int row, int column) const {
    const ImVec2 low = {origin.x + pitch.x * float(column), origin.y + pitch.y * float(row)};
    return {low, {low.x + tile.x, low.y + tile.y}};
}

AtlasLayout layout_atlas(const AtlasShape& shape, ImVec2 area, float scale) {
    AtlasLayout out;
    if (shape.rows <= 0 || shape.columns <= 0 || shape.tile_rows <= 0 || shape.tile_columns <= 0)
        return out;
    const ImVec2 available = space_for_maps(shape, area);
    const float gap = std::round(kGap * scale);
    const auto fit = [&](float pixels, int maps, int64_t values) {
        const auto zoom = static_cast<int>((pixels / float(maps) - gap) / float(values));
        return std::clamp(zoom, 1, std::max(1, static_cast<int>(kMostZoom * scale)));
    };
    out.zoom = {fit(available.x, shape.columns, shape.tile_columns),
                fit(available.y, shape.rows, shape.tile_rows)};
    // At a larger scale a value is never smaller than at scale 1, where its width allows it.
    const int least = std::max(1, static_cast<int>(scale));
    out.zoom.down = std::max(out.zoom.down, std::min(out.zoom.across, least));
    if (!shape.free_axes) out.zoom.across = out.zoom.down = out.zoom.least();
    out.tile = {float(out.zoom.across * shape.tile_columns),
                float(out.zoom.down * shape.tile_rows)};
    out.pitch = {spread(available.x, shape.columns, out.tile.x, gap),
                 spread(available.y, shape.rows, out.tile.y, gap) + shape.cell_label};
    out.origin = {shape.row_label, shape.column_label};
    out.size = {out.origin.x + out.pitch.x * float(shape.columns) + shape.row_bar,
                out.origin.y + out.pitch.y * float(shape.rows)};
    return out;
}

AtlasHit hit_atlas(const AtlasLayout& layout, const AtlasShape& shape, ImVec2 at) {
    const float x = at.x - layout.origin.x, y = at.y - layout.origin.y;
    if (x < 0 || y < 0 || layout.pitch.x <= 0 || layout.pitch.y <= 0) return {};
    const int column = static_cast<int>(x / layout.pitch.x);
    const int row = static_cast<int>(y / layout.pitch.y);
    if (column >= shape.columns || row >= shape.rows) return {};
    const Box box = layout.cell(row, column);
    if (!box.contains(at)) return {};
    return {row,
            column,
            {static_cast<int64_t>((at.y - box.low.y) / float(layout.zoom.down)),
             static_cast<int64_t>((at.x - box.low.x) / float(layout.zoom.across))}};
}

AtlasReply Atlas::draw(const AtlasView& view, const Look& look) {
    AtlasReply reply;
    if (look.numbers != nullptr) look.numbers->add(view.id, atlas_numbers(view));
    reply.layout = layout_atlas(view.shape, view.area, look.scale);
    const AtlasShape& shape = view.shape;
    tiles_.resize(shape.rows * shape.columns, shape.tile_rows, shape.tile_columns);
    const bool scrolls = reply.layout.size.y > view.area.y + 1;
    if (scrolls) ImGui::BeginChild(view.id, view.area);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size = {view.area.x, scrolls ? reply.layout.size.y : view.area.y};
    ImGui::InvisibleButton(view.id, {std::max(1.0F, size.x), std::max(1.0F, size.y)});
    reply.box = {corner, {corner.x + size.x, corner.y + size.y}};
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    AtlasFrame shown{view, look, reply.layout, corner, {}, false, {}};
    if (ImGui::IsItemHovered()) {
        const AtlasHit hit =
            hit_atlas(reply.layout, shape, {mouse.x - corner.x, mouse.y - corner.y});
        if (hit.is_valid() && shown.cell(hit.row, hit.column) != nullptr) reply.hovered = hit;
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) reply.clicked = reply.hovered;
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
            reply.double_clicked = reply.hovered;
    }
    shown.hovered = reply.hovered;
    shown.has_bars = reply.has_bars = have_bars_space(view, reply.layout.tile.x, look);
    shown.captions = plan_captions(view, reply.layout, look);
    reply.caption = shown.captions.what;
    reply.label_stride = shown.captions.stride;
    draw_row_ground(shown);
    draw_maps(shown, tiles_);
    draw_labels(shown);
    draw_row_bars(shown);
    draw_rings(shown);
    if (scrolls) ImGui::EndChild();
    return reply;
}

}  // namespace aft::viz
