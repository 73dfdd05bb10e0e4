#include "app/panels/attention/attention_gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "core/text.h"

namespace aft::app {

namespace {

Cell source_cell(const ViewState& ui, const Positions& positions, viz::MapCell at) {
    Cell cell = ui.selection.cell;
    const Positions::GridPosition p = unfold(positions, at.row, at.column);
    cell.source = p.is_on_grid() ? positions.source_at(p.y, p.x, 0) : -1;
    return cell;
}

// As many maps as there are channels, as large as then fits: from the widest that are useful to
// the narrowest that are. Where the height keeps the maps smaller than that, more of them fill the
// width, down to the narrowest label. What does not fit even then comes page by page.
viz::AtlasShape gallery_shape(const Positions& positions, int64_t all, ImVec2 area, float scale) {
    viz::AtlasShape best;
    const auto columns_at = [&](float pitch) { return int(area.x / (pitch * scale)); };
    const int least = std::max(3, columns_at(108)), most = std::max(least, columns_at(72));
    const int labelled = std::max(most, columns_at(42));
    int zoom = 0;  // of the best
    for (int columns = least; columns <= labelled; ++columns) {
        viz::AtlasShape shape = {.rows = 1,
                                 .columns = columns,
                                 .tile_rows = positions.is_text
                                                  ? (positions.width + kTextWidth - 1) / kTextWidth
                                                  : positions.height,
                                 .tile_columns = positions.is_text ? kTextWidth : positions.width,
                                 .cell_label = std::floor(24 * scale)};
        const viz::AtlasLayout one = layout_atlas(shape, {area.x, 1e5F}, scale);
        constexpr float kLeastGap = 2;
        const float tall =
            float(one.zoom.down * shape.tile_rows) + kLeastGap * scale + shape.cell_label;
        shape.rows = std::max(1, int(area.y / tall));
        const int now = layout_atlas(shape, area, scale).zoom.down;
        if (columns > most && now < zoom) break;
        if (shape.rows * columns > best.rows * best.columns) {
            best = shape;
            zoom = now;
        }
        if (int64_t(best.rows) * best.columns >= all) break;
    }
    return best;
}

// Why this model's channels cannot be sorted like this; empty if they can.
std::string why_not(const ModelView& ui, const AttentionData& data, Order order) {
    const MixerTraits& mixer = ui.status.mixer;
    if (order == Order::gate && !data.rows().has_gates) return mixer.no_gate + ".";
    if (order == Order::divergence && !mixer.has_prior())
        return mixer.no_bias + " to diverge from.";
    return "";
}

}  // namespace

void AttentionGallery::sort(const ViewState& ui, AttentionData& data) {
    const auto requested = static_cast<Order>(ui.selection.channel_order);
    const Order order = why_not(ui, data, requested).empty() ? requested : Order::sharpness;
    if (order == order_) return;
    order_ = order;
    data.sort(order);
    first_ = 0;
}

void AttentionGallery::fill(const ModelView& ui, const AttentionData& data, int count) {
    const size_t all = data.rows().channels.size();
    if (first_ >= all || size_t(count) >= all) first_ = 0;  // a page is enough for them by now
    const size_t n = std::min(size_t(count), all - first_);
    if (cells_version_ == data.rows().version && cells_.size() == n && cells_first_ == first_ &&
        cells_order_ == order_)
        return;
    cells_version_ = data.rows().version;
    cells_order_ = order_;
    cells_first_ = first_;
    folded_.clear();
    cells_.assign(n, {});
    for (size_t i = 0; i < n; ++i)
        folded_.push_back(data.channel_map(ui, data.rows().channels[first_ + i].index).folded);
    for (size_t i = 0; i < n; ++i) {
        const AttentionChannel& c = data.rows().channels[first_ + i];
        viz::AtlasCell& cell = cells_[i];
        folded_[i].version = (cells_version_ * 4 + uint64_t(order_)) * (all + 1) + first_;
        cell.data = folded_[i].data();
        std::vector<float> seen;
        for (size_t k = 0; k < folded_[i].values.size(); ++k)
            if (folded_[i].hidden[k] == 0) seen.push_back(folded_[i].values[k]);
        cell.coloring.range = {0, std::max(1e-9, value_range(seen, 100, false).high)};
        cell.label = fmt::format("{}{}", data.rows().is_by_head ? "h" : "c", c.index);
        cell.brief = std::to_string(c.index);
        const double shown = order_ == Order::gate        ? c.gate
                             : order_ == Order::sharpness ? c.sharpness
                                                          : c.divergence;
        cell.bar = order_ == Order::divergence ? -1 : shown;
        cell.bar_text = std::isnan(shown) ? "" : plain_number(shown, 2);
    }
}

void AttentionGallery::turn_page(int64_t by, int count, size_t channels) {
    const auto all = int64_t(channels);
    const int64_t last = std::max<int64_t>(0, (all - 1) / count * count);
    first_ = size_t(std::clamp<int64_t>(int64_t(first_) + by * count, 0, last));
}

// Which channels these are and what stands under every map, the longest words first.
std::vector<std::string> AttentionGallery::head_words(const AttentionData& data, int count,
                                                      const viz::AtlasReply& drawn) const {
    const size_t all = data.rows().channels.size(), last = std::min(all, first_ + size_t(count));
    const std::string shown = fmt::format("{} to {} of {}, own range", first_ + 1, last, all);
    constexpr const char* kValues[] = {"gate \u03C3(Q)", "sharpness", "divergence"};
    if (drawn.caption != viz::AtlasCaption::full) return {shown + " each"};
    const char* const value = kValues[int(order_)];
    return {fmt::format("{} each; {}: {}{}", shown, drawn.has_bars ? "bar and number" : "number",
                        value, order_ == Order::divergence ? " in bits" : ""),
            fmt::format("{}s; {}", shown, value), shown + " each"};
}

void AttentionGallery::draw_order(PaneContext& ui, const AttentionData& data) {
    inline_label(ui, "Sort");
    std::vector<Choice> orders = {
        {.text = "Gate##gate",
         .tip = "How open the channel is at the target, the widest first.",
         .formula = "\u03C3(Q[t,c])"},
        {.text = "Sharpness##sharpness",
         .tip = "1: one source has all; 0: all sources have the same.",
         .formula = "1 \u2212 entropy / log2(sources)"},
        {.text = "Divergence##divergence",
         .tip = "How far the keys move the row from its prior, bits.",
         .formula = "\u03A3 both log2(both / prior)"}};
    for (size_t i = 0; i < orders.size(); ++i) orders[i].why_not = why_not(ui, data, Order(i));
    int chosen = int(order_);
    if (segmented(ui, "Sort##sort", chosen, {orders})) ui.selection.channel_order = chosen;
}

void AttentionGallery::draw_head(PaneContext& ui, const AttentionData& data, int count,
                                 const viz::AtlasReply& drawn) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x;
    const size_t channels = data.rows().channels.size();
    const std::string title = fmt::format(
        "{} of layer {}", data.rows().is_by_head ? "Heads" : "Channels", ui.selection.cell.layer);
    text_at(ui, {corner.x, corner.y + ui.px(5)}, title,
            {text_size::label, ui.theme.text1, Face::semibold});
    float used = text_extent(ui, title, text_size::label, Face::semibold).x + ui.px(12);
    if (size_t(count) < channels) {  // the rest comes page by page
        const auto turn = [&](const char* name, const char* mark, int64_t by, bool can) {
            ImGui::SetCursorScreenPos({corner.x + used, corner.y});
            if (button(ui, {.name = name,
                            .icon = mark,
                            .kind = ButtonKind::icon,
                            .why_not = can ? "" : "There are no others.",
                            .tip = "The wheel over the maps does the same."}))
                turn_page(by, count, channels);
            used += ui.px(28);
        };
        turn("Channels before##channels_before", icon::step_back, -1, first_ > 0);
        turn("More channels##more_channels", icon::step, 1, first_ + size_t(count) < channels);
        used += ui.px(6);
    }
    std::string words;
    for (const std::string& one : head_words(data, count, drawn))
        if (words.empty() || text_extent(ui, words, text_size::hint).x > all - used - ui.px(300))
            words = one;
    text_at(ui, {corner.x + used, corner.y + ui.px(6)}, words,
            {text_size::hint, ui.theme.text2, Face::regular, all - used - ui.px(300)});
    ui.recorder.area({.kind = "value",
                      .path = ui.recorder.claim("Channels shown##channels_shown"),
                      .min = corner,
                      .max = {corner.x + all, corner.y + ui.px(26)},
                      .value = words,
                      .why_not = {}});
    if (!cells_.empty())
        ui.recorder.area({.kind = "value",
                          .path = ui.recorder.claim("First channel##first_channel"),
                          .min = corner,
                          .max = {corner.x + all, corner.y + ui.px(26)},
                          .value = cells_.front().label + " " + cells_.front().bar_text,
                          .why_not = {}});
    ImGui::SetCursorScreenPos({corner.x + std::max(used, all - ui.px(290)), corner.y});
    draw_order(ui, data);
}

int64_t AttentionGallery::draw(PaneContext& ui, AttentionData& data, const Coloring& coloring,
                               float height) {
    sort(ui, data);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x;
    const Positions positions(ui.status);
    const std::vector<AttentionChannel>& channels = data.rows().channels;
    viz::AtlasView view;
    view.area = {all, height - ui.px(36)};
    view.shape = gallery_shape(positions, int64_t(channels.size()), view.area, ui.scale);
    const int count = view.shape.rows * view.shape.columns;
    fill(ui, data, count);
    ImGui::SetCursorScreenPos({corner.x, corner.y + ui.px(34)});
    for (size_t i = 0; i < cells_.size(); ++i) {
        cells_[i].coloring.scale = coloring.scale;
        cells_[i].coloring.map = coloring.map;
        if (channels[first_ + i].index != ui.selection.cell.channel) continue;
        view.selected_row = int(i) / view.shape.columns;
        view.selected_column = int(i) % view.shape.columns;
    }
    view.cells = cells_;
    view.raise_selected_row = false;
    const viz::AtlasReply reply = atlas_.draw(view, ui);
    const ImVec2 end = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(corner);
    draw_head(ui, data, count, reply);
    ImGui::SetCursorScreenPos(end);
    const viz::AtlasHit hit = reply.clicked.is_valid() ? reply.clicked : reply.hovered;
    const float wheel = ImGui::GetIO().MouseWheel;
    if (hit.is_valid() && wheel != 0) {  // what is under the pointer is drawn in the next frame
        turn_page(wheel < 0 ? 1 : -1, count, channels.size());
        return -1;
    }
    const auto at = first_ + size_t(std::max(0, hit.row) * view.shape.columns + hit.column);
    if (!hit.is_valid() || at >= channels.size()) return -1;
    Cell cell = source_cell(ui, positions, hit.cell);
    cell.channel = channels[at].index;
    if (reply.clicked.is_valid())
        ui.selection.lock(cell);
    else
        ui.selection.hover = cell;  // previews; the chosen channel stays
    return cell.channel;
}

}  // namespace aft::app
