// Attention: where one target of a picture (or text) listens: by position alone, by content alone,
// and both; the average over channels, and every channel as a small map.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/attention_maps.h"
#include "app/panels/attention_numbers.h"
#include "app/panels/bias_tools.h"
#include "app/panels/tool_row.h"
#include "app/ui/panel.h"
#include "core/text.h"
#include "viz/atlas.h"

namespace aft::app {

PanelRoom attention_panel();

namespace {

class AttentionPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    void draw_tools(Ui& ui, const Positions& positions);
    void draw_target_tool(Ui& ui, const Positions& positions);
    void choose_target(Ui& ui, const Positions& positions);
    void draw_gallery(Ui& ui, float height);
    [[nodiscard]] std::vector<std::string> head_words(int count, bool has_bars) const;
    void draw_gallery_head(Ui& ui, int count, bool has_bars);
    [[nodiscard]] viz::AtlasShape gallery_shape(const Positions& positions, ImVec2 area,
                                                float scale) const;
    void turn_page(int64_t by, int count);
    void fill_gallery(Ui& ui, int count);
    void draw_caption(Ui& ui, const Positions& positions);
    void draw_foot(Ui& ui, const Positions& positions);
    [[nodiscard]] Coloring coloring(const Ui& ui) const;
    [[nodiscard]] Cell source_cell(const Ui& ui, const Positions& positions, viz::MapCell at) const;

    AttentionData data_;
    AttentionMaps maps_;
    viz::Atlas gallery_;
    std::vector<Folded> folded_;
    std::vector<viz::AtlasCell> cells_;
    uint64_t cells_version_ = 0;
    Order cells_order_ = Order::gate;
    size_t first_ = 0, cells_first_ = 0;  // of the channels as they are sorted, at the left top
    int parts_ = 0, reduce_ = 0, order_ = 0;
    int64_t target_channel_ = 0;
    uint64_t drawn_ = 0;
    Range range_;
};

Coloring AttentionPanel::coloring(const Ui& ui) const {
    constexpr Scale kScales[] = {Scale::linear, Scale::root, Scale::log};
    constexpr Colormap kMaps[] = {Colormap::viridis, Colormap::cividis, Colormap::grey};
    const AttentionLook& look = ui.settings.attention;
    return {range_, kScales[look.scale], kMaps[look.colors]};
}

Cell AttentionPanel::source_cell(const Ui& ui, const Positions& positions, viz::MapCell at) const {
    Cell cell = ui.selection.cell;
    const Positions::Place p = unfold(positions, at.row, at.column);
    cell.source = p.is_on_grid() ? positions.source_at(p.y, p.x, 0) : -1;
    return cell;
}

void AttentionPanel::choose_target(Ui& ui, const Positions& positions) {
    Cell& cell = ui.selection.cell;
    if (cell.target >= 0 && cell.target < positions.tokens) return;
    cell.target = positions.is_text ? positions.tokens / 2
                                    : positions.target_at(positions.height * 5 / 8,
                                                          positions.width / 2, target_channel_);
}

void AttentionPanel::draw_tools(Ui& ui, const Positions& positions) {
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    sample_tool(ui);
    ImGui::SameLine(0, ui.px(12));
    const Choice parts[] = {{"Prior + both"}, {"Content + both"}, {"All three"}};
    (void)segmented(ui, "Parts", parts_, {parts});
    const float room = end - ImGui::GetItemRectMax().x;
    std::vector<Tool> tools;
    if (positions.channels == 3) tools.push_back({176, [&] { draw_target_tool(ui, positions); }});
    tools.push_back(
        {272, [&] {
             inline_label(ui, "Channels");
             const std::string reduce[] = {"Gate-weighted mean", "Mean", "Chosen channel"};
             (void)combo(ui, "Channels", reduce_, {reduce, 180, ""});
         }});
    tool_row(ui, room, tools);
}

void AttentionPanel::draw_target_tool(Ui& ui, const Positions& positions) {
    inline_label(ui, "Target");
    const Choice names[] = {{.text = "R"}, {.text = "G"}, {.text = "B"}};
    int chosen = int(target_channel_);
    if (!segmented(ui, "Target channel", chosen, {names})) return;
    target_channel_ = chosen;
    const Positions::Place at = positions.target(ui.selection.cell.target);
    if (at.is_on_grid()) ui.selection.cell.target = positions.target_at(at.y, at.x, chosen);
}

void AttentionPanel::fill_gallery(Ui& ui, int count) {
    const size_t all = data_.channels().size();
    if (first_ >= all || size_t(count) >= all) first_ = 0;  // a page is enough for them by now
    const size_t n = std::min(size_t(count), all - first_);
    if (cells_version_ == data_.version() && cells_.size() == n && cells_first_ == first_ &&
        cells_order_ == Order(order_))
        return;
    cells_version_ = data_.version();
    cells_order_ = Order(order_);
    cells_first_ = first_;
    folded_.clear();
    cells_.assign(n, {});
    for (size_t i = 0; i < n; ++i)
        folded_.push_back(data_.channel_map(ui, data_.channels()[first_ + i].index));
    for (size_t i = 0; i < n; ++i) {
        const AttentionChannel& c = data_.channels()[first_ + i];
        viz::AtlasCell& cell = cells_[i];
        folded_[i].version = (cells_version_ * 4 + uint64_t(order_)) * (all + 1) + first_;
        cell.data = folded_[i].data();
        std::vector<float> seen;
        for (size_t k = 0; k < folded_[i].values.size(); ++k)
            if (folded_[i].hidden[k] == 0) seen.push_back(folded_[i].values[k]);
        cell.coloring.range = {0, std::max(1e-9, value_range(seen, 100, false).high)};
        cell.label = fmt::format("{}{}", data_.has_gates() ? "c" : "h", c.index);
        const double shown = order_ == 0 ? c.gate : order_ == 1 ? c.sharpness : c.divergence;
        if (order_ == 0 && !data_.has_gates()) continue;
        cell.bar = order_ == 2 ? -1 : shown;
        cell.bar_text = plain_number(shown, 2);
    }
}

// As many maps as there are channels, as large as then fits: from the widest that are useful to
// the narrowest whose label can be read; what does not fit even then comes page by page.
viz::AtlasShape AttentionPanel::gallery_shape(const Positions& positions, ImVec2 area,
                                              float scale) const {
    viz::AtlasShape best;
    const auto all = int64_t(data_.channels().size());
    const int least = std::max(3, int(area.x / (108 * scale)));
    const int most = std::max(least, int(area.x / (72 * scale)));
    for (int columns = least; columns <= most; ++columns) {
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
        if (shape.rows * columns > best.rows * best.columns) best = shape;
        if (int64_t(best.rows) * best.columns >= all) break;
    }
    return best;
}

void AttentionPanel::turn_page(int64_t by, int count) {
    const auto all = int64_t(data_.channels().size());
    const int64_t last = std::max<int64_t>(0, (all - 1) / count * count);
    first_ = size_t(std::clamp<int64_t>(int64_t(first_) + by * count, 0, last));
}

// Which channels these are and what stands under every map, the longest words first.
std::vector<std::string> AttentionPanel::head_words(int count, bool has_bars) const {
    const size_t all = data_.channels().size(), last = std::min(all, first_ + size_t(count));
    const std::string shown = fmt::format("{} to {} of {}, own range", first_ + 1, last, all);
    if (order_ == 0 && !data_.has_gates()) return {shown + " each"};
    constexpr const char* kValues[] = {"gate \u03C3(Q)", "sharpness", "divergence"};
    return {fmt::format("{} each; {}: {}{}", shown, has_bars ? "bar and number" : "number",
                        kValues[order_], order_ == 2 ? " in bits" : ""),
            fmt::format("{}s; {}", shown, kValues[order_]), shown + " each"};
}

void AttentionPanel::draw_gallery_head(Ui& ui, int count, bool has_bars) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x;
    const std::string title = fmt::format(
        "{} of layer {}", data_.has_gates() ? "Channels" : "Heads", ui.selection.cell.layer);
    text_at(ui, {corner.x, corner.y + ui.px(5)}, title,
            {text_size::label, ui.theme.text1, Face::semibold});
    float used = text_extent(ui, title, text_size::label, Face::semibold).x + ui.px(12);
    if (size_t(count) < data_.channels().size()) {  // the rest comes page by page
        const auto turn = [&](const char* name, const char* mark, int64_t by, bool can) {
            ImGui::SetCursorScreenPos({corner.x + used, corner.y});
            if (button(ui, {.name = name,
                            .icon = mark,
                            .kind = ButtonKind::icon,
                            .why_not = can ? "" : "There are no others.",
                            .tip = "The wheel over the maps does the same."}))
                turn_page(by, count);
            used += ui.px(28);
        };
        turn("Channels before", icon::step_back, -1, first_ > 0);
        turn("More channels", icon::step, 1, first_ + size_t(count) < data_.channels().size());
        used += ui.px(6);
    }
    std::string words;
    for (const std::string& one : head_words(count, has_bars))
        if (words.empty() || text_extent(ui, words, text_size::hint).x > all - used - ui.px(300))
            words = one;
    text_at(ui, {corner.x + used, corner.y + ui.px(6)}, words,
            {text_size::hint, ui.theme.text2, Face::regular, all - used - ui.px(300)});
    ui.recorder.area({.kind = "value",
                      .label = ui.recorder.claim("Channels shown"),
                      .min = corner,
                      .max = {corner.x + all, corner.y + ui.px(26)},
                      .value = words,
                      .why_not = {}});
    ImGui::SetCursorScreenPos({corner.x + std::max(used, all - ui.px(290)), corner.y});
    inline_label(ui, "Sort");
    const Choice orders[] = {{.text = "Gate"}, {.text = "Sharpness"}, {.text = "Divergence"}};
    if (segmented(ui, "Sort", order_, {orders})) {
        data_.sort(Order(order_));
        first_ = 0;
    }
}

void AttentionPanel::draw_gallery(Ui& ui, float height) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x;
    const Positions positions(ui.status);
    viz::AtlasView view;
    view.area = {all, height - ui.px(36)};
    view.shape = gallery_shape(positions, view.area, ui.look.scale);
    const int count = view.shape.rows * view.shape.columns;
    fill_gallery(ui, count);
    ImGui::SetCursorScreenPos({corner.x, corner.y + ui.px(34)});
    for (size_t i = 0; i < cells_.size(); ++i) {
        cells_[i].coloring.scale = coloring(ui).scale;
        cells_[i].coloring.map = coloring(ui).map;
        if (data_.channels()[first_ + i].index != ui.selection.cell.channel) continue;
        view.selected_row = int(i) / view.shape.columns;
        view.selected_column = int(i) % view.shape.columns;
    }
    view.cells = cells_;
    view.raise_selected_row = false;
    const viz::AtlasReply reply = gallery_.draw(view, ui.look);
    const ImVec2 end = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(corner);
    draw_gallery_head(ui, count, reply.has_bars);
    ImGui::SetCursorScreenPos(end);
    const viz::AtlasHit hit = reply.clicked.is_valid() ? reply.clicked : reply.hovered;
    const float wheel = ImGui::GetIO().MouseWheel;
    if (hit.is_valid() && wheel != 0)  // what is under the pointer then is drawn in the next frame
        return turn_page(wheel < 0 ? 1 : -1, count);
    const auto at = first_ + size_t(std::max(0, hit.row) * view.shape.columns + hit.column);
    if (!hit.is_valid() || at >= data_.channels().size()) return;
    Cell cell = source_cell(ui, positions, hit.cell);
    cell.channel = data_.channels()[at].index;
    if (reply.clicked.is_valid())
        ui.selection.lock(cell);
    else
        ui.selection.hover = cell;  // previews; the chosen channel stays
}

ReadOut share_read_out(const char* name, float share) {
    if (std::isnan(share)) return {name, "not visible"};
    return {name, plain_number(100 * share, 3) + " %", exact_number(share)};
}

void AttentionPanel::draw_foot(Ui& ui, const Positions& positions) {
    const Cell cell = ui.selection.shown();
    std::vector<ReadOut> values = {
        {"layer", std::to_string(cell.layer)},
        {"target", place_and_byte(ui, positions, positions.target(cell.target))}};
    const auto j = size_t(cell.source);
    const auto add = [&](const char* name, const AttentionMap& map) {
        if (cell.source >= 0 && j < map.row.size())
            values.push_back(share_read_out(name, map.row[j]));
    };
    if (cell.source >= 0)
        values.push_back({"source", place_and_byte(ui, positions, positions.source(cell.source))});
    add("share", data_.both());
    if (parts_ != 1) add("prior", data_.prior());
    if (parts_ != 0) add("content", data_.content());
    for (const AttentionChannel& c : data_.channels())
        if (c.index == cell.channel && data_.has_gates()) {
            values.push_back({"channel", std::to_string(c.index)});
            values.push_back({"\u03C3(Q)", plain_number(c.gate, 2), exact_number(float(c.gate))});
        }
    hover_line(ui, values,
               lock_words(ui, positions.is_text ? "Hover reads, click sets the target, P pins"
                                                : "Hover a target, click locks, P pins"));
}

void AttentionPanel::draw_caption(Ui& ui, const Positions& positions) {
    const char* const scales[] = {"linear", "square-root", "log"};
    const std::string over = over_image_words(ui);
    const std::string target = positions.target_words(ui.selection.cell.target);
    const std::string model = fmt::format("{}, layer {}", step_words(ui, data_.watch().fields()),
                                          ui.selection.cell.layer);
    const std::string shown = fmt::format("{} colours{}", scales[ui.settings.attention.scale],
                                          over.empty() ? "" : ", " + over);
    const std::string title = "Implicit attention of target " + target;
    const std::string rest =
        fmt::format("share of each visible source, rows sum to 1, {}  \u00B7  {}", shown, model);
    const float needed = text_extent(ui, title, text_size::label, Face::semibold).x +
                         text_extent(ui, rest, text_size::hint).x + ui.px(10);
    if (needed <= ImGui::GetContentRegionAvail().x)
        caption(ui, title, rest);
    else  // which target of which model comes before how it is drawn
        caption(ui, "Attention of target " + target, fmt::format("{}  \u00B7  {}", model, shown));
}

void AttentionPanel::draw(Ui& ui) {
    drawn_ = ui.stats.frames;
    if (sample_state(ui)) return;
    const Positions positions(ui.status);
    choose_target(ui, positions);
    draw_tools(ui, positions);
    if (sample_missing(ui)) return;
    if (reduce_ == 2 && ui.selection.cell.channel < 0) ui.selection.cell.channel = 0;
    const Cell& cell = ui.selection.cell;
    data_.update(ui, {.layer = cell.layer,
                      .target = cell.target,
                      .channel = cell.channel,
                      .reduce = Reduce(reduce_),
                      .prior = true,
                      .content = parts_ != 0});
    range_ = {0, maps_.limit().value_or(largest_share(data_, parts_ != 0))};
    draw_caption(ui, positions);
    if (!data_.error().empty())
        banner(ui, {.title = "This attention could not be computed", .sentence = data_.error()});
    if (data_.is_pending()) (void)progress_line(ui, "", -1);
    const float all = canvas_height(ui);
    const bool has_gallery = all > ui.px(400);
    const float pictures = has_gallery ? all * (positions.is_text ? 0.6F : 0.52F) : all - ui.px(56);
    maps_.draw(ui,
               {.data = data_,
                .positions = positions,
                .parts = Parts(parts_),
                .coloring = coloring(ui),
                .channel = target_channel_},
               std::floor(pictures));
    ImGui::Dummy({1, ui.px(2)});
    const float left = canvas_height(ui);
    if (data_.has_both() && has_gallery && left > ui.px(110)) draw_gallery(ui, left);
    draw_foot(ui, positions);
}

void AttentionPanel::inspector(Ui& ui) {
    if (ui.stats.frames - drawn_ > 1 || !ui.has_model() || !data_.has_both()) return;
    const Positions positions(ui.status);
    const Cell cell = ui.selection.shown();
    section(ui, "Selection", {}, false);
    key_value(ui, "Layer", std::to_string(cell.layer));
    if (cell.channel >= 0) key_value(ui, "Channel", std::to_string(cell.channel));
    const auto words = [&](const Positions::Place& place, const std::string& otherwise) {
        return positions.is_text && place.is_on_grid() ? place_and_byte(ui, positions, place)
                                                       : otherwise;
    };
    key_value(ui, "Target",
              words(positions.target(cell.target), positions.target_words(cell.target)));
    if (cell.source >= 0 && size_t(cell.source) < data_.both().row.size()) {
        key_value(ui, "Source",
                  words(positions.source(cell.source), positions.source_words(cell.source)));
        const double share = data_.both().row[size_t(cell.source)];
        key_value(ui, "Share", std::isnan(share) ? "not visible" : plain_number(100 * share, 3),
                  std::isnan(share) ? "" : "%");
    }
    draw_prior_or_content(ui, {.data = data_,
                               .positions = positions,
                               .layer = cell.layer,
                               .target = ui.selection.cell.target});
    draw_layer_shares(ui, data_);
    AttentionLook& look = ui.settings.attention;
    section(ui, "Display");
    label_column(ui, "Scale");
    const Choice scales[] = {{.text = "Linear"}, {.text = "Root"}, {.text = "Log"}};
    (void)segmented(ui, "Scale", look.scale, {scales, -1});
    label_column(ui, "Colours");
    const std::string maps[] = {"Viridis", "Cividis", "Grey"};
    (void)combo(ui, "Colours", look.colors, {maps});
    over_image_controls(ui);
    section(ui, "Actions");
    action_button(ui, "Pin", ButtonKind::normal, "Pin target");
}

}  // namespace

PanelRoom attention_panel() {
    return {
        {"Attention", "where one target listens: by position, by content, and both"},
        icon::eye,
        "Hover the picture to choose a target; click locks it. In a text a click on a character "
        "makes it the target. The maps show the share of "
        "every visible source; below them every channel by itself, sorted by its gate.",
        {{Workspace::attention, Slot::canvas, 0}},
        [] { return std::unique_ptr<Panel>(std::make_unique<AttentionPanel>()); }};
}

}  // namespace aft::app
