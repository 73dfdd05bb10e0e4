#include "app/panels/attention/attention_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/buttons.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {

namespace {

constexpr float kTitle = 22;      // above every map
constexpr float kStart = 24;      // below it, where a source stands on no pixel
constexpr float kStartCell = 18;  // its cell
constexpr float kFoot = 16;       // between the maps and their bar, whose lock stands above it

float start_space(const DrawContext& ui, const Positions& positions) {
    return positions.source(0).is_on_grid() ? 0 : ui.px(kStart);
}

Cell source_at(const ViewState& ui, const Positions& positions,
               const Positions::GridPosition& place) {
    Cell cell = ui.selection.cell;
    cell.source = place.is_on_grid() ? positions.source_at(place.y, place.x, 0) : -1;
    return cell;
}

// The place of a map while it is computed, so that nothing moves when it comes, or for good: then
// with the reason, perhaps none.
void draw_without_map(PaneContext& ui, const viz::Box& box, const WidgetName& title,
                      const std::optional<std::string>& why_none) {
    ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ui.theme.field);
    const std::string words = why_none.value_or("Computing");
    const float edge = ui.px(8), available = box.width() - 2 * edge;
    const float wide = std::min(available, text_extent(ui, words, text_size::hint).x);
    text_at(ui, {(box.low.x + box.high.x - wide) / 2, (box.low.y + box.high.y) / 2 - edge}, words,
            {text_size::hint, ui.theme.text3, Face::regular, available});
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim(title),
                      .min = box.low,
                      .max = box.high,
                      .value = why_none ? "none: " + words : "loading",
                      .why_not = {},
                      .item = 0});
}

// What the lighter hatch means, left of the colour bar; returns where the words before it end.
float draw_mask_words(const DrawContext& ui, const AttentionRows& rows, ImVec2 bar) {
    bool any = false;
    for (const AttentionMap* map : {&rows.prior, &rows.content, &rows.both})
        any |= !map->masked.empty();
    if (!any) return bar.x;
    const float x = bar.x - ui.px(12) - text_extent(ui, "masked", text_size::hint).x;
    viz::draw_mask_hatch(ui,
                         {{x - ui.px(32), bar.y + ui.px(2)}, {x - ui.px(8), bar.y + ui.px(14)}});
    text_at(ui, {x, bar.y}, "masked", {text_size::hint, ui.theme.text2});
    return x - ui.px(32);
}

// nullopt: it will come. place: among the maps, the prior first.
std::optional<std::string> why_none(const ModelView& ui, const AttentionShown& shown,
                                    size_t place) {
    const MixerTraits& mixer = ui.status.mixer;
    if (place == 0 && !mixer.has_prior()) return mixer.no_bias;
    if (!shown.data.error().empty()) return "";  // the banner above says why
    return std::nullopt;
}

}  // namespace

void AttentionMaps::draw_map(PaneContext& ui, const AttentionShown& shown, const Part& part) {
    const Positions& positions = shown.positions;
    viz::MapView view = folded_view(ui, part.map.folded, {part.box.width(), part.box.height()});
    view.id = part.title.id.c_str();
    view.coloring = shown.coloring;
    under_[part.place].lay_under(ui, part.map.folded, view);
    ImGui::SetCursorScreenPos(part.box.low);
    const viz::MapReply reply = maps_[part.place].draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim(part.title),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = positions.target_words(ui.selection.cell.target),
                      .why_not = {}});
    const auto cell = [&](const viz::MapCell& at) {
        return source_at(ui, positions, unfold(positions, at.row, at.column));
    };
    if (reply.hovered.is_valid()) ui.selection.point(cell(reply.hovered));
    if (reply.clicked.is_valid()) ui.selection.lock(cell(reply.clicked));
}

// Hovering a character reads it as a source, a click makes it the target.
void AttentionMaps::draw_text(PaneContext& ui, const AttentionShown& shown, const Part& part) {
    const Positions& positions = shown.positions;
    const std::vector<uint8_t> bytes = sample_bytes(ui);
    viz::TextMapView view;
    view.id = part.title.id.c_str();
    view.bytes = bytes;
    view.values = part.map.folded.values;
    view.hidden = part.map.folded.hidden;
    view.masked = part.map.folded.masked;
    view.version = part.map.folded.version;
    view.coloring = shown.coloring;
    view.area = {part.box.width(), part.box.height()};
    view.target = positions.target(ui.selection.cell.target).x;
    view.source = shown_source(ui, positions).x;
    view.scroll = &scroll_;
    ImGui::SetCursorScreenPos(part.box.low);
    const viz::TextMapReply reply = texts_[part.place].draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim(part.title),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = positions.target_words(ui.selection.cell.target),
                      .why_not = {},
                      .item = reply.id});
    if (reply.hovered >= 0) ui.selection.point(source_at(ui, positions, {0, reply.hovered, 0}));
    if (reply.clicked < 0) return;
    Cell cell = ui.selection.cell;
    cell.target = positions.target_at(0, reply.clicked, 0);
    cell.source = -1;
    ui.selection.lock(cell);
}

void AttentionMaps::draw_part(PaneContext& ui, const AttentionShown& shown, const Part& part) {
    const auto& [title, map, place, box, available] = part;
    text_at(ui, {box.low.x, box.low.y - ui.px(kTitle)}, title.words,
            {text_size::label, ui.theme.text1, Face::semibold, available});
    if (text_extent(ui, title.words, text_size::label, Face::semibold).x + ui.px(84) < box.width())
        text_right(ui, {box.high.x, box.low.y - ui.px(kTitle - 1)}, "same range",
                   {text_size::hint, ui.theme.text3});
    if (map.folded.values.empty())
        draw_without_map(ui, box, title, why_none(ui, shown, place));
    else if (shown.positions.is_text)
        draw_text(ui, shown, part);
    else
        draw_map(ui, shown, part);
    for (int64_t j = 0; j < sources_before(shown.positions) && j < int64_t(map.row.size()); ++j)
        draw_start(ui, shown, part, j);
}

// Source j, the start or class token, has no place on the map: a cell of its own in the map's
// colours, side by side where there are two.
void AttentionMaps::draw_start(PaneContext& ui, const AttentionShown& shown, const Part& part,
                               int64_t j) {
    const float share = part.map.row[size_t(j)], side = ui.px(kStartCell);
    const float each = part.available / float(sources_before(shown.positions));
    const ImVec2 low = {part.box.low.x + float(j) * each,
                        part.box.high.y + ui.px(kStart - kStartCell)};
    const viz::Box cell = {low, {low.x + side, low.y + side}};
    std::string words = start_words(shown.positions, j) + std::string(" ");
    const bool is_masked = part.map.is_masked(j);
    words += !std::isnan(share) ? plain_number(100 * share, 3) + " %"
             : is_masked        ? "masked"
                                : "not visible";
    if (share > shown.coloring.range.high) words += ", above the range";
    if (std::isnan(share)) {
        is_masked ? viz::draw_mask_hatch(ui, cell) : viz::draw_hatch(ui, cell);
    } else {
        const Rgb color =
            map_color(share, shown.coloring.range, shown.coloring.scale, shown.coloring.map);
        ImGui::GetWindowDrawList()->AddRectFilled(cell.low, cell.high,
                                                  IM_COL32(color[0], color[1], color[2], 255));
    }
    if (ui.selection.shown().source == j) viz::draw_ring(ui, cell, viz::rgb(0xFFFFFF), 1);
    // Two beside each other are named in short; the tooltip has all.
    const char* const brief = j == 0 ? "class " : "dist. ";
    const std::string label =
        sources_before(shown.positions) > 1 ? brief + plain_number(100 * share, 1) + " %" : words;
    text_at(ui, {cell.high.x + ui.px(8), low.y + ui.px(1)}, label,
            {text_size::hint, ui.theme.text2, Face::regular, each - side - ui.px(8)});
    ImGui::SetCursorScreenPos(cell.low);
    const Region reply =
        region(ui, "cell",
               WidgetName("Start of " + part.title.words,
                          fmt::format("start_of_{}{}", part.title.id, j == 0 ? "" : "_dist")),
               {{side, side}, words});
    Cell at = ui.selection.cell;
    at.source = j;
    if (reply.hovered) ui.selection.point(at);
    if (reply.pressed) ui.selection.lock(at);
}

void AttentionMaps::draw_foot(PaneContext& ui, const AttentionShown& shown,
                              const viz::Box& bar_place) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float end = draw_mask_words(ui, shown.data.rows(), {bar_place.low.x, at.y});
    if (shown.positions.is_causal) {
        viz::draw_hatch(ui, {{at.x, at.y + ui.px(2)}, {at.x + ui.px(24), at.y + ui.px(14)}});
        const float available = end - at.x - ui.px(44);
        const char* const variants[] = {"hatched: not yet visible in raster order",
                                        "hatched: not yet visible", "not yet visible"};
        const char* words = variants[2];
        for (const char* const longer : {variants[1], variants[0]})
            if (text_extent(ui, longer, text_size::hint).x <= available &&
                !(shown.positions.is_text && longer == variants[0]))
                words = longer;
        text_at(ui, {at.x + ui.px(32), at.y}, words,
                {text_size::hint, ui.theme.text2, Face::regular, available});
    }
    ImGui::SetCursorScreenPos({bar_place.low.x, at.y});
    if (!shown.data.rows().has_both()) return;  // no range yet
    viz::ColorBarView bar;
    bar.coloring = shown.coloring;
    bar.width = bar_place.width();
    bar.percent = true;
    bar.low_locked = true;
    const float share =
        shown_share(shown.positions, shown.data.rows().both, ui.selection.shown().source);
    if (!std::isnan(share)) bar.marker = share;
    const viz::ColorBarReply reply = draw_color_bar(bar, ui);
    if (reply.changed) by_hand_ = reply.range.high;
    if (reply.reset) by_hand_.reset();
}

void AttentionMaps::draw_sample(PaneContext& ui, const AttentionShown& shown, int zoom) {
    const Positions& positions = shown.positions;
    const auto reply = sample_.draw(ui, zoom, positions.target(ui.selection.cell.target),
                                    shown_source(ui, positions));
    const auto at_target = [&](const Positions::GridPosition& p) {
        Cell cell = ui.selection.cell;
        cell.target = positions.target_at(p.y, p.x, shown.channel);
        cell.source = -1;
        return cell;
    };
    if (reply.hovered.is_on_grid()) ui.selection.point(at_target(reply.hovered));
    if (reply.clicked.is_on_grid()) ui.selection.lock(at_target(reply.clicked));
}

namespace {

// Attention has queries; AFT has none beside its gate.
const char* content_title(const AttentionData& data) {
    return data.rows().is_by_head ? "Content: queries and keys##content"
                                  : "Content: keys alone##content";
}

const char* both_title(const ModelView& ui) {
    return ui.status.mixer.has_bias() ? "Both: bias and content##both"
                                      : "As used: content, no bias##both";
}

}  // namespace

void AttentionMaps::draw_pictures(PaneContext& ui, const AttentionShown& shown, ImVec2 available) {
    const Positions& positions = shown.positions;
    const int count = shown.parts == AttentionParts::all ? 4 : 3;
    const float gap = ui.px(24);
    const float each = std::floor((available.x - gap * float(count - 1)) / float(count));
    const int zoom =
        token_zoom(ui, positions, {each, available.y - ui.px(kTitle) - start_space(ui, positions)});
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size = {float(zoom * positions.width), float(zoom * positions.height)};
    const float top = corner.y + ui.px(kTitle);
    text_at(ui, corner, "Image and target",
            {text_size::label, ui.theme.text1, Face::semibold, each});
    ImGui::SetCursorScreenPos({corner.x, top});
    draw_sample(ui, shown, zoom);
    const auto box = [&](int column) {
        const float x = corner.x + (each + gap) * float(column);
        return viz::Box{{x, top}, {x + size.x, top + size.y}};
    };
    const AttentionData& data = shown.data;
    if (shown.parts != AttentionParts::content)
        draw_part(ui, shown,
                  {"Prior: position bias alone##prior", data.rows().prior, 0, box(1), each});
    if (shown.parts != AttentionParts::prior)
        draw_part(ui, shown, {content_title(data), data.rows().content, 1, box(count - 2), each});
    draw_part(ui, shown, {both_title(ui), data.rows().both, 2, box(count - 1), each});
    ImGui::SetCursorScreenPos({corner.x, top + size.y + start_space(ui, positions) + ui.px(kFoot)});
    draw_foot(ui, shown, {box(1).low, box(count - 1).high});
}

// The text stands in every part: a text of its own would only repeat it.
void AttentionMaps::draw_texts(PaneContext& ui, const AttentionShown& shown, ImVec2 available) {
    const int count = shown.parts == AttentionParts::all ? 3 : 2;
    const float gap = ui.px(24);
    const float each = std::floor((available.x - gap * float(count - 1)) / float(count));
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float top = corner.y + ui.px(kTitle);
    const float start = start_space(ui, shown.positions);
    const float tall =
        viz::text_height(sample_bytes(ui), {each, available.y - ui.px(kTitle) - start}, ui);
    const auto box = [&](int column) {
        const float x = corner.x + (each + gap) * float(column);
        return viz::Box{{x, top}, {x + each, top + tall}};
    };
    const AttentionData& data = shown.data;
    if (shown.parts != AttentionParts::content)
        draw_part(ui, shown,
                  {"Prior: position bias alone##prior", data.rows().prior, 0, box(0), each});
    if (shown.parts != AttentionParts::prior)
        draw_part(ui, shown, {content_title(data), data.rows().content, 1, box(count - 2), each});
    draw_part(ui, shown, {both_title(ui), data.rows().both, 2, box(count - 1), each});
    ImGui::SetCursorScreenPos({corner.x, top + tall + start + ui.px(kFoot)});
    draw_foot(ui, shown, box(count - 1));
}

void AttentionMaps::draw(PaneContext& ui, const AttentionShown& shown, float height) {
    const ImVec2 available = {ImGui::GetContentRegionAvail().x, height};
    if (shown.positions.is_text)
        draw_texts(ui, shown, available);
    else
        draw_pictures(ui, shown, available);
}

}  // namespace aft::app
