#include "app/panels/attention/key_chosen.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/widgets/text.h"
#include "viz/color_bar.h"

namespace aft::app {

namespace {

void take(ViewState& ui, const Positions& positions, const Positions::GridPosition& place,
          bool is_click) {
    if (!place.is_on_grid()) return;
    Cell cell = ui.selection.shown();
    cell.source = positions.source_at(place.y, place.x, 0);
    ui.selection.point(cell);
    if (is_click) ui.selection.lock(cell);
}

void draw_bar(PaneContext& ui, const Positions& positions, const ChosenKey& key, float width) {
    const Folded& map = *key.map;
    std::vector<float> seen;
    for (size_t k = 0; k < map.values.size(); ++k)
        if (map.hidden[k] == 0) seen.push_back(map.values[k]);
    const auto bars = histogram(seen, key.coloring.range, key.coloring.scale, 18);
    viz::ColorBarView bar;
    bar.coloring = key.coloring;
    bar.width = width;
    bar.histogram = bars;
    bar.can_drag = false;
    const FoldPlace at = fold_place(positions, shown_source(ui, positions));
    if (at.row >= 0) bar.marker = map.values[size_t(at.row * map.columns + at.column)];
    (void)draw_color_bar(bar, ui);
}

}  // namespace

void KeyChosen::draw_picture(PaneContext& ui, const Positions& positions, int zoom) {
    text(ui,
         fmt::format("Image, {}\u00D7{} {}", positions.height, positions.width,
                     positions.is_autoregressive ? "pixels" : "patches"),
         {text_size::label, ui.theme.text1, Face::semibold});
    const auto reply = sample_.draw(ui, zoom, {}, shown_source(ui, positions));
    const bool is_click = reply.clicked.is_on_grid();
    take(ui, positions, is_click ? reply.clicked : reply.hovered, is_click);
}

float KeyChosen::draw_map(PaneContext& ui, const Positions& positions, const ChosenKey& key,
                          int zoom) {
    text(ui, key.title, {text_size::label, ui.theme.text1, Face::semibold});
    viz::MapView view;
    view.id = "chosen";
    view.data = key.map->data();
    view.coloring = key.coloring;
    view.area = {float(zoom * positions.width), float(zoom * positions.height)};
    view.max_fit = 4096;
    view.numbers = false;
    const FoldPlace at = fold_place(positions, shown_source(ui, positions));
    view.source = {at.row, at.column};
    under_.lay_under(ui, *key.map, view);
    const viz::MapReply reply = map_.draw(view, ui);
    const bool is_click = reply.clicked.is_valid();
    const viz::MapCell hit = is_click ? reply.clicked : reply.hovered;
    take(ui, positions, unfold(positions, hit.row, hit.column), is_click);
    return reply.map.width();
}

void KeyChosen::draw_text(PaneContext& ui, const Positions& positions, const ChosenKey& key,
                          ImVec2 available) {
    text(ui, key.title, {text_size::label, ui.theme.text1, Face::semibold});
    const std::vector<uint8_t> bytes = sample_bytes(ui);
    viz::TextMapView view;
    view.bytes = bytes;
    view.values = key.map->values;
    view.hidden = key.map->hidden;
    view.version = key.map->version;
    view.coloring = key.coloring;
    const ImVec2 most = {available.x,
                         available.y - ui.px(104)};  // below: the bar with its histogram
    view.area = {available.x, viz::text_height(bytes, most, ui)};
    view.source = shown_source(ui, positions).x;
    const viz::TextMapReply reply = text_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Text##text"),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = key.title,
                      .why_not = {},
                      .item = reply.id});
    const bool is_click = reply.clicked >= 0;
    const int64_t hit = is_click ? reply.clicked : reply.hovered;
    if (hit >= 0) take(ui, positions, {0, hit, 0}, is_click);
}

void KeyChosen::draw(PaneContext& ui, const Positions& positions, const ChosenKey& key,
                     ImVec2 available) {
    ImGui::BeginGroup();
    float width = available.x;
    if (!positions.is_text) {
        const float side = std::min(available.x, (available.y - ui.px(138)) / 2);
        const int zoom = token_zoom(ui, positions, {side, side});
        draw_picture(ui, positions, zoom);
        if (key.map != nullptr) width = draw_map(ui, positions, key, zoom);
    } else if (key.map != nullptr) {
        draw_text(ui, positions, key, available);
    }
    if (key.map != nullptr) draw_bar(ui, positions, key, width);
    ImGui::EndGroup();
}

}  // namespace aft::app
