#include "app/panels/biases/bias_side.h"

#include "app/panels/biases/side_heading.h"
#include "app/state/probe_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/target_token.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {
namespace {

void take_from(std::vector<float>& values, const std::vector<float>& before) {
    for (size_t i = 0; i < values.size() && i < before.size(); ++i) values[i] -= before[i];
}

int64_t chosen_target(const ViewState& ui, const BiasForm& form) {
    const int64_t t = ui.selection.shown().target;
    if (t >= 0 && t < form.tokens) return t;
    const Positions positions(ui.status, ui.selection.cell.layer);
    return std::min(form.tokens - 1,
                    positions.target_at(positions.height / 2, positions.width / 2, 0));
}

}  // namespace

void BiasSide::draw(PaneContext& ui, const BiasForm& form, BiasLayers& layers,
                    const viz::Box& box) {
    if (opened_ != ui.opened || form_ != form) *this = BiasSide();  // another model
    opened_ = ui.opened;
    form_ = form;
    // Space at the left for the ring of a cell there.
    const float ring = viz::ring_reach(ui);
    ImGui::SetCursorScreenPos({box.low.x - ring, box.low.y});
    const ImVec2 size = {box.width() + ring, box.height()};
    if (ImGui::BeginChild("side", size, ImGuiChildFlags_NavFlattened)) {
        ImGui::Indent(ring);
        const float width = ImGui::GetContentRegionAvail().x;
        const float steps = BiasBySteps::height(ui, form, width);
        if (!form.is_kernel()) {
            // Smaller where the profile and the row of steps would not fit below it.
            const float below = ui.px(150 + 52) + steps;
            const float most = std::clamp(size.y - below, ui.px(84), width);
            draw_fold(ui, form, layers, {width, most});
            ImGui::Dummy({1, ui.px(4)});
        }
        float available = ImGui::GetContentRegionAvail().y - ui.px(12) - steps;
        if (steps > 0 && form.layout == BiasLayout::kernel_2d) available -= ui.px(160);
        draw_profile(ui, form, layers, {width, std::clamp(available, ui.px(112), ui.px(260))});
        if (form.layout == BiasLayout::kernel_2d)
            draw_over_training(ui, form, layers, {width, ui.px(160)});
        by_step_.draw(ui, form, layers, width);
    }
    ImGui::EndChild();
}

void BiasSide::draw_fold(PaneContext& ui, const BiasForm& form, BiasLayers& layers, ImVec2 most) {
    const Positions positions(ui.status, ui.selection.cell.layer);
    const int64_t layer = ui.selection.cell.layer, target = chosen_target(ui, form);
    ProbeRequest request = bias_request(ui, form, {.layer = layer});
    request.options.erase(kViewOption.key);
    request.options.erase(kAlsoOption.key);
    request.options[kRowOption] = std::to_string(target);
    const int64_t head =
        form.heads > 1 ? std::clamp<int64_t>(ui.selection.cell.head, 0, form.heads - 1) : 0;
    if (form.heads > 1) request.head = head;
    const bool has_change = shows_change(ui);
    bool is_new = row_.now.update(ui, request, layers.turn(layer), bias_hold(form));
    if (has_change) {
        request.step = ui.selection.pins.back().step;
        is_new |= row_.before.update(ui, request, layers.turn(layer));
    }
    is_new |= row_.is_change != has_change;
    const bool is_there = row_.now.fields() && (!has_change || row_.before.is_current());
    if (is_new && is_there) {
        row_.is_change = has_change;
        std::vector<float> row = row_.now.fields()->fields.front().values;
        if (has_change) take_from(row, row_.before.fields()->fields.front().values);
        folded_.clear();
        for (int64_t c = 0; c < positions.channels; ++c) {
            folded_.push_back(fold_row(positions, row, c));
            folded_.back().version = ++versions_;
        }
        row_.target = std::stoll(row_.now.shown().options.at("row"));
    }
    const Folded unread = folded_.empty()
                              ? fold_row(positions, std::vector<float>(size_t(form.tokens)), 0)
                              : Folded{};
    const Folded& shape = folded_.empty() ? unread : folded_.front();
    const std::string what =
        fmt::format("Where this {} looks by prior alone", target_noun(positions, target));
    side_heading(
        ui, {what, "look"},
        fmt::format("{}row of target {}, folded to {}\u00D7{}", has_change ? "change of the " : "",
                    positions.target_words(target), shape.rows, shape.columns));
    const FoldSize fold = fold_size(ui, positions, shape, most);
    if (folded_.empty() || row_.target < 0 || row_.is_change != has_change) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_awaited(ui, {at, {at.x + fold.all, at.y + fold.tall}}, "Reading");
        ImGui::Dummy({fold.all, fold.tall + ui.px(fold.below)});
        return;
    }
    draw_channels(ui, positions, layers.coloring(ui, layer, head), fold);
}

// Of a text in lines: the number of a line's first byte, and the places in it.
static void set_line_axes(viz::MapView& view) {
    view.free_axes = true;
    view.column_step = 8;
    view.row_label = [](int64_t row) { return std::to_string(row * kTextWidth); };
    view.column_label = [](int64_t column) { return std::to_string(column); };
}

// The same before the row is read: nothing moves when it comes.
BiasSide::FoldSize BiasSide::fold_size(const DrawContext& ui, const Positions& positions,
                                       const Folded& shape, ImVec2 most) {
    const auto count = float(positions.channels);
    FoldSize out{.gap = ui.px(6), .below = positions.channels == 3 ? 22.0F : 6.0F};
    out.each = std::floor((most.x - out.gap * (count - 1)) / count);
    const float high = std::min(most.y, ui.px(280)),
                ratio = float(shape.rows) / float(shape.columns);
    if (positions.is_text) {
        out.tall = std::min(ui.px(20) * float(shape.rows), high) + ui.px(24);
    } else {
        out.each = std::min(out.each, std::floor(high / ratio));
        out.tall = out.each * ratio;
    }
    out.all = out.each * count + out.gap * (count - 1);
    return out;
}

void BiasSide::draw_channels(PaneContext& ui, const Positions& positions, const Coloring& coloring,
                             const FoldSize& fold) {
    maps_.resize(folded_.size());
    const float gap = fold.gap, each = fold.each, tall = fold.tall;
    const bool is_text = positions.is_text;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const Positions::GridPosition target = positions.target(row_.target);
    float foot = corner.y;  // of the maps
    for (size_t c = 0; c < folded_.size(); ++c) {
        const ImVec2 at = {corner.x + (each + gap) * float(c), corner.y};
        ImGui::SetCursorScreenPos(at);
        viz::MapView view;
        const std::string id = fmt::format("fold {}", c);
        view.id = id.c_str();
        view.data = folded_[c].data();
        view.coloring = coloring;
        view.area = {each, std::max(tall, float(folded_[c].rows))};
        view.is_signed = is_signed(ui.selection.quantity);
        view.max_fit = 32;
        view.numbers = false;
        if (is_text) set_line_axes(view);
        const FoldPlace place = fold_place(positions, target);
        if (int64_t(c) == target.channel) view.target = {place.row, place.column};
        const int64_t source = ui.selection.shown().source;
        if (source >= 0 && positions.source(source).channel == int64_t(c)) {
            const FoldPlace from = fold_place(positions, positions.source(source));
            view.source = {from.row, from.column};
        }
        const viz::MapReply reply = maps_[c].draw(view, ui);
        foot = std::max(foot, reply.map.high.y);
        ui.recorder.area({.kind = "map",
                          .path = ui.recorder.claim(
                              fmt::format("Row of target, channel {0}##row_channel_{0}", c)),
                          .min = reply.map.low,
                          .max = reply.map.high,
                          .value = positions.target_words(row_.target),
                          .why_not = {}});
        const viz::MapCell hit = reply.clicked.is_valid() ? reply.clicked : reply.hovered;
        Positions::GridPosition from = unfold(positions, hit.row, hit.column);
        from.channel = int64_t(c);
        if (!from.is_on_grid()) continue;
        const Cell cell{.layer = ui.selection.cell.layer,
                        .target = row_.target,
                        .source = positions.source_at(from.y, from.x, from.channel)};
        if (reply.hovered.is_valid()) ui.selection.point(cell);
        if (reply.clicked.is_valid()) ui.selection.lock(cell);
    }
    const std::string of = text_extent(ui, "sources G", text_size::hint).x < each ? "sources " : "";
    for (size_t c = 0; folded_.size() == 3 && c < 3; ++c)
        text_at(ui, {corner.x + (each + gap) * float(c), foot + ui.px(2)}, of + "RGB" [c],
                { text_size::hint, ui.theme.text3 });
    ImGui::SetCursorScreenPos({corner.x, corner.y + tall + ui.px(fold.below)});
    ImGui::Dummy({1, 1});
}

void BiasSide::add_exact(const ViewState& ui, const BiasReading& reading,
                         std::vector<ReadOut>& out) const {
    if (reading.block.is_single() || !row_.now.fields() || reading.cell.target != row_.target ||
        reading.cell.source < 0 || shows_change(ui))
        return;
    const std::vector<float>& row = row_.now.fields()->fields.front().values;
    const auto j = size_t(reading.cell.source);
    if (j < row.size() && !std::isnan(row[j]))
        out.push_back({"exact", shown_value(ui.selection.quantity, row[j]), exact_number(row[j])});
}

namespace {

struct Bins {
    std::vector<double> sum, low, high, count;
    void add(int64_t bin, double v) {
        if (!std::isfinite(v) || bin < 0) return;
        if (bin >= int64_t(sum.size())) {
            sum.resize(size_t(bin + 1), 0);
            count.resize(size_t(bin + 1), 0);
            low.resize(size_t(bin + 1), std::numeric_limits<double>::infinity());
            high.resize(size_t(bin + 1), -std::numeric_limits<double>::infinity());
        }
        const auto i = size_t(bin);
        sum[i] += v;
        count[i] += 1;
        low[i] = std::min(low[i], v);
        high[i] = std::max(high[i], v);
    }
};

// Bin of a cell: distance in the picture, or the offset of a band; -1 = left out.
int64_t bin_of(const BiasForm& form, const Positions& positions, int64_t r, int64_t c) {
    if (form.layout == BiasLayout::band || form.layout == BiasLayout::kernel_1d) return c;
    if (form.layout == BiasLayout::kernel_2d)
        return std::lround(
            std::hypot(double(r + form.first_offset), double(c + form.first_offset)));
    if (positions.is_text) return std::abs(r - c);
    const Positions::GridPosition t = positions.target(r), j = positions.source(c);
    if (!t.is_on_grid() || !j.is_on_grid()) return -1;
    return std::lround(std::hypot(double(t.y - j.y), double(t.x - j.x)));
}

}  // namespace

void BiasSide::make_profile(const ViewState& ui, const BiasForm& form, const BiasLayers& layers) {
    const int64_t layer = ui.selection.cell.layer;
    const int64_t head =
        form.heads > 1 ? std::clamp<int64_t>(ui.selection.cell.head, 0, form.heads - 1) : 0;
    const BiasLayer& from = layers.layer(layer);
    if (profile_.layer == layer && profile_.head == head && profile_.version == from.version)
        return;
    profile_ = {.version = from.version, .layer = layer, .head = head};
    const bool has_change = shows_change(ui);
    // Single values, whatever blocks the map is drawn in; the probe's own blocks have none.
    const BiasMap map = map_of_fields(
        {*from.watch.fields(), has_change ? from.pinned.fields().get() : nullptr}, form, head, {});
    if (map.shown.empty()) return;
    // The mean of exp(w) would only show its largest values.
    const std::vector<float>& values = map.w.empty() ? map.shown : map.w;
    const Positions positions(ui.status, ui.selection.cell.layer);
    Bins bins;
    for (int64_t r = 0; r < form.rows; ++r)
        for (int64_t c = 0; c < form.columns; ++c)
            if (!form.is_hidden(r, c, {}))
                bins.add(bin_of(form, positions, r, c), values[size_t(r * form.columns + c)]);
    const bool is_offset = form.layout == BiasLayout::band || form.layout == BiasLayout::kernel_1d;
    for (size_t i = 0; i < bins.sum.size(); ++i) {
        if (bins.count[i] == 0) continue;
        profile_.x.push_back(double(i) + (is_offset ? double(form.first_offset) : 0));
        profile_.mean.push_back(bins.sum[i] / bins.count[i]);
        profile_.low.push_back(bins.low[i]);
        profile_.high.push_back(bins.high[i]);
    }
}

void BiasSide::draw_profile(PaneContext& ui, const BiasForm& form, BiasLayers& layers,
                            ImVec2 size) {
    make_profile(ui, form, layers);
    if (profile_.x.size() < 2) return;
    const bool is_offset = form.layout == BiasLayout::band || form.layout == BiasLayout::kernel_1d;
    const Positions positions(ui.status, ui.selection.cell.layer);
    viz::CurvePlot plot;
    plot.id = "##profile";
    plot.title = is_offset ? "Mean bias by offset" : "Mean bias by distance";
    const std::string quantity = shows_change(ui)                               ? "change"
                                 : ui.selection.quantity == Quantity::row_share ? "row share"
                                                                                : "w";
    // The smallest and the largest value at a distance; one value at each has no band.
    const std::string band = profile_.low == profile_.high ? "" : ", band: min to max";
    const float space =
        size.x - ui.px(8) - text_extent(ui, plot.title, text_size::label, Face::semibold).x;
    const std::string axes = fmt::format("{} against {}", quantity,
                                         is_offset ? "t \u2212 t\u2032" : positions.several());
    for (const std::string& words : {axes + band, axes, quantity})
        if (plot.unit.empty() || text_extent(ui, plot.unit, text_size::hint).x > space)
            plot.unit = words;
    plot.x_word = is_offset ? "offset" : "distance";
    plot.size = size;
    plot.zero_line = true;
    plot.curves = {{.x = profile_.x,
                    .y = profile_.mean,
                    .low = profile_.low,
                    .high = profile_.high,
                    .color = ui.theme.series[0],
                    .dots = profile_.x.size() <= 32,
                    .decimals = 4}};
    plot.curves.front().label = "";
    (void)draw_curves(plot, ui);
}

void BiasSide::draw_over_training(PaneContext& ui, const BiasForm& form, BiasLayers& layers,
                                  ImVec2 size) {
    const Cell cell = ui.selection.cell;
    if (cell.tap < 0 || ui.history.size() < 2) return;
    const auto head = size_t(std::clamp<int64_t>(cell.head, 0, form.heads - 1));
    if (trace_.size() != ui.history.size()) trace_ = std::vector<BiasMoment>(ui.history.size());
    std::vector<double> steps, values;
    for (size_t i = 0; i < trace_.size(); ++i) {
        ProbeRequest request = bias_request(ui, form, {.layer = cell.layer});
        request.step = ui.history[i];
        (void)trace_[i].watch.update(ui, request, layers.turn(cell.layer));
        if (!trace_[i].watch.is_current()) continue;
        const std::vector<float>& all = trace_[i].watch.fields()->fields.front().values;
        const size_t at = head * size_t(form.rows * form.columns) + size_t(cell.tap);
        if (at >= all.size()) continue;
        steps.push_back(double(ui.history[i]));
        values.push_back(all[at]);
    }
    if (steps.size() < 2) return;
    viz::CurvePlot plot;
    plot.id = "##trace";
    plot.title = fmt::format("Bias at ({}) over training", tap_words(form, cell));
    plot.size = size;
    plot.now = double(ui.shown_step());
    plot.curves = {{.x = steps, .y = values, .color = ui.theme.series[0], .decimals = 4}};
    const viz::CurveReply reply = draw_curves(plot, ui);
    if (reply.clicked) ui.commands.send(ShowStep{std::llround(*reply.clicked)});
}

}  // namespace aft::app
