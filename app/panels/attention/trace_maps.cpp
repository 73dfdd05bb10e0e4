#include "app/panels/attention/trace_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr float kTraceTitle = 22;  // above every map
constexpr float kTraceGap = 16;

std::string tile_words(const TraceRow& row) {
    return row.layer == 0 ? trace_words(row) : fmt::format("Layer {}", row.layer);
}

float title_width(const DrawContext& ui, std::string_view words) {
    return text_extent(ui, words, text_size::label, Face::semibold).x;
}

// Columns and whole pixels a value at which all tiles are largest, and the size of one.
struct TraceGrid {
    int columns = 1, zoom = 0;
    ImVec2 tile{};
};

// No tile is narrower than `title`, however small its map.
TraceGrid trace_grid(const PaneContext& ui, int count, float title, ImVec2 area) {
    const Positions positions(ui.status);
    const int64_t tall =
        positions.is_text ? (positions.width + kTextWidth - 1) / kTextWidth : positions.height;
    const int64_t wide = positions.is_text ? kTextWidth : positions.width;
    const float gap = ui.px(kTraceGap), least = std::max(title, float(wide));
    TraceGrid best;
    for (int columns = 1; columns <= count; ++columns) {
        const auto lines = float((count + columns - 1) / columns);
        const ImVec2 each = {(area.x + gap) / float(columns) - gap,
                             (area.y + gap) / lines - gap - ui.px(kTraceTitle)};
        if (each.x < least || each.y < float(tall)) continue;
        const int zoom = positions.is_text ? viz::fit_zoom(each, tall, wide, 4096)
                                           : token_zoom(ui, positions, each);
        if (zoom > best.zoom) best = {columns, zoom, {}};
    }
    const auto width_at = [&](int zoom) { return std::max(title, float(wide * zoom)); };
    // Narrower than their titles they would be no map to look at: they scroll.
    const int legible = std::max(1, int(std::lround(least / float(wide))));
    if (best.zoom < legible) {
        const bool has_bar = ImGui::GetScrollMaxY() > 0;  // the area is without it by now
        const float across = area.x - (has_bar ? 0 : ImGui::GetStyle().ScrollbarSize);
        best = {std::max(1, int((across + gap) / (width_at(legible) + gap))), legible, {}};
    }
    best.tile = {width_at(best.zoom), float(tall * best.zoom) + ui.px(kTraceTitle)};
    return best;
}

Cell trace_source_cell(const ViewState& ui, const Positions& positions,
                       const Positions::GridPosition& place) {
    Cell cell = ui.selection.cell;
    cell.source = place.is_on_grid() ? positions.source_at(place.y, place.x, 0) : -1;
    return cell;
}

std::string shown_words(const TraceRow& row, int64_t source) {
    const float share = row.shares[size_t(source)];
    return !std::isnan(share)      ? source_share_words(share)
           : row.is_masked(source) ? "masked"
                                   : "not visible";
}

// Of the sources that have no place: "class 12 %, distillation 3 %".
std::string shares_before(const Positions& positions, const TraceRow& row) {
    std::string words;
    for (int64_t j = 0; j < sources_before(positions) && j < int64_t(row.shares.size()); ++j) {
        const std::string name = start_words(positions, j);
        const size_t end = name.find(" token");  // but "token 0"
        words += (j == 0 ? "" : ", ") + name.substr(0, end) + " " + shown_words(row, j);
    }
    return words;
}

}  // namespace

std::string trace_words(const TraceRow& row) {
    if (row.is_alone) return fmt::format("Layer {}", row.layer);
    return row.layer == 0 ? "Input tokens" : fmt::format("Input of layer {}", row.layer);
}

std::string source_share_words(double share) {
    return share > 0 && share < 1e-5 ? "below 0.001 %" : plain_number(100 * share, 3) + " %";
}

Coloring trace_coloring(const ViewState& ui, const TraceRow& row) {
    return attention_coloring(ui, {0, std::max(1e-9, row.top)});
}

void TraceMaps::draw_small(PaneContext& ui, const TraceTile& tile, Small& small,
                           TraceReply& reply) {
    const Positions positions(ui.status);
    const TraceRow& row = tile.row;
    const bool is_chosen = row.layer == ui.selection.cell.layer;
    const std::string words = tile_words(row);
    text_at(ui, tile.box.low, words,
            {text_size::label, is_chosen ? ui.theme.accent : ui.theme.text1, Face::semibold,
             tile.box.width()});
    const std::string start = shares_before(positions, row);
    const float taken = title_width(ui, words) + ui.px(10);
    if (!start.empty() && taken + text_extent(ui, start, text_size::hint).x < tile.box.width())
        text_right(ui, {tile.box.high.x, tile.box.low.y + ui.px(1)}, start,
                   {text_size::hint, ui.theme.text3});
    viz::MapView view =
        folded_view(ui, row.folded, {tile.box.width(), tile.box.height() - ui.px(kTraceTitle)});
    const std::string id = fmt::format("trace_{}", row.layer);
    view.id = id.c_str();
    view.coloring = trace_coloring(ui, row);
    small.under.lay_under(ui, row.folded, view);
    ImGui::SetCursorScreenPos({tile.box.low.x, tile.box.low.y + ui.px(kTraceTitle)});
    // The frame lies below the rings of the map.
    ImDrawList* const list = ImGui::GetWindowDrawList();
    ImDrawListSplitter layers;
    layers.Split(list, 2);
    layers.SetCurrentChannel(list, 1);
    const viz::MapReply map = small.map.draw(view, ui);
    layers.SetCurrentChannel(list, 0);
    if (is_chosen) viz::draw_ring(ui, map.map, ui.theme.accent, 2);
    layers.Merge(list);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim({trace_words(row), id}),
                      .min = map.map.low,
                      .max = map.map.high,
                      .value = positions.target_words(ui.selection.cell.target),
                      .why_not = {}});
    const auto cell = [&](const viz::MapCell& at) {
        return trace_source_cell(ui, positions, unfold(positions, at.row, at.column));
    };
    if (map.hovered.is_valid()) {
        reply.read_layer = row.layer;
        ui.selection.point(cell(map.hovered));
    }
    if (!map.clicked.is_valid()) return;
    Cell chosen = cell(map.clicked);
    chosen.layer = row.layer;
    ui.selection.lock(chosen);
}

void TraceMaps::draw_sample(PaneContext& ui, const viz::Box& box, int zoom, TraceReply& reply) {
    const Positions positions(ui.status);
    text_at(ui, box.low, "Target", {text_size::label, ui.theme.text1, Face::semibold, box.width()});
    ImGui::SetCursorScreenPos({box.low.x, box.low.y + ui.px(kTraceTitle)});
    const auto at = sample_.draw(ui, zoom, positions.target(ui.selection.cell.target),
                                 shown_source(ui, positions));
    if (at.clicked.is_on_grid())
        reply.target =
            positions.target_at(at.clicked.y, at.clicked.x, target_channel(ui, positions));
}

// Another layer is chosen by a key, perhaps: its map comes into view. The first one leaves the
// sample where it is.
void TraceMaps::follow(int64_t layer, const viz::Box& box) {
    const int64_t before = std::exchange(followed_, layer);
    if (before < 0 || before == layer) return;
    const float top = ImGui::GetWindowPos().y, tall = ImGui::GetWindowHeight();
    if (box.low.y >= top && box.high.y <= top + tall) return;
    ImGui::SetScrollFromPosY((box.low.y + box.high.y) / 2 - top, 0.5F);
}

float TraceMaps::draw_grid(PaneContext& ui, const TraceData& data, ImVec2 area, TraceReply& reply) {
    const Positions positions(ui.status);
    const int first = positions.is_text ? 0 : 1;  // a text stands above its maps
    const int count = first + int(data.rows().size());
    float title = first == 1 ? title_width(ui, "Target") : 0;
    for (const TraceRow& row : data.rows())
        title = std::max(title, title_width(ui, tile_words(row)));
    const TraceGrid grid = trace_grid(ui, count, title, area);
    const ImVec2 size = grid.tile;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const auto box = [&](int i) {
        const ImVec2 low = {corner.x + (size.x + ui.px(kTraceGap)) * float(i % grid.columns),
                            corner.y + (size.y + ui.px(kTraceGap)) * float(i / grid.columns)};
        return viz::Box{low, {low.x + size.x, low.y + size.y}};
    };
    while (small_.size() < data.rows().size()) small_.push_back(std::make_unique<Small>());
    if (first == 1) draw_sample(ui, box(0), grid.zoom, reply);
    for (size_t i = 0; i < data.rows().size(); ++i) {
        const TraceRow& row = data.rows()[i];
        draw_small(ui, {row, box(first + int(i))}, *small_[i], reply);
        if (row.layer == ui.selection.cell.layer) follow(row.layer, box(first + int(i)));
    }
    // Of the height of all, or the last line could not be scrolled to.
    ImGui::SetCursorScreenPos({corner.x, box(count - 1).high.y});
    ImGui::Dummy({1, viz::ring_reach(ui)});
    const int lines = (count + grid.columns - 1) / grid.columns;
    const int whole = int((area.y + ui.px(kTraceGap)) / (size.y + ui.px(kTraceGap)));
    return whole >= 1 && whole < lines ? box((whole - 1) * grid.columns).high.y - corner.y : 0;
}

// Hovering a character reads it as a source, a click makes it the target.
void TraceMaps::draw_text(PaneContext& ui, const TraceRow& row, ImVec2 area, TraceReply& reply) {
    const Positions positions(ui.status);
    const std::vector<uint8_t> bytes = sample_bytes(ui);
    text(ui, trace_words(row), {text_size::label, ui.theme.text1, Face::semibold});
    viz::TextMapView view;
    view.id = "traced text";
    view.bytes = bytes;
    view.values = row.folded.values;
    view.hidden = row.folded.hidden;
    view.masked = row.folded.masked;
    view.version = row.folded.version * 1000 + uint64_t(row.layer);
    view.coloring = trace_coloring(ui, row);
    view.area = {area.x, viz::text_height(bytes, {area.x, area.y - ui.px(kTraceTitle)}, ui)};
    view.target = positions.target(ui.selection.cell.target).x;
    view.source = shown_source(ui, positions).x;
    view.scroll = &scroll_;
    const viz::TextMapReply at = text_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Text##traced_text"),
                      .min = at.box.low,
                      .max = at.box.high,
                      .value = trace_words(row),
                      .why_not = {},
                      .item = at.id});
    if (at.hovered >= 0) {
        reply.read_layer = row.layer;
        ui.selection.point(trace_source_cell(ui, positions, {0, at.hovered, 0}));
    }
    if (at.clicked >= 0) reply.target = positions.target_at(0, at.clicked, 0);
}

TraceMaps::TraceReply TraceMaps::draw(PaneContext& ui, const TraceData& data, const viz::Box& box) {
    TraceReply reply;
    // The child is larger than its content, which would else cut the rings at its edges.
    const float ring = viz::ring_reach(ui);
    ImGui::SetCursorScreenPos({box.low.x - ring, box.low.y - ring});
    // No titles stand alone at the lower edge.
    const float tall = lines_ > 0 ? std::min(lines_, box.height()) : box.height();
    if (ImGui::BeginChild("trace maps", {box.width() + ring, tall + 2 * ring},
                          ImGuiChildFlags_NavFlattened)) {
        ImGui::Indent(ring);
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ring);
        ImVec2 area = {ImGui::GetContentRegionAvail().x - ring, box.height()};
        const TraceRow* const chosen = data.row(ui.selection.cell.layer);
        if (ui.status.task.is_text() && chosen != nullptr) {
            const float top = ImGui::GetCursorScreenPos().y;
            draw_text(ui, *chosen, {area.x, std::floor(area.y * 0.6F)}, reply);
            ImGui::Dummy({1, ui.px(4)});
            area.y -= ImGui::GetCursorScreenPos().y - top;
        }
        const float lines = draw_grid(ui, data, area, reply);
        const float wanted = lines > 0 ? box.height() - area.y + lines : 0;
        if (std::exchange(lines_, wanted) != wanted) ui.want_frames(1);
    }
    ImGui::EndChild();
    reply.bottom = box.low.y + tall;
    return reply;
}

}  // namespace aft::app
