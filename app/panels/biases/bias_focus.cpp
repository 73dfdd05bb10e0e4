// Focus: one bias map from far away down to single cells with numbers, and beside it what a target
// does with it: the row folded back into the picture, or a kernel's profile and its way through
// training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/bias_side.h"
#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/bias_axes.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/zoom_words.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom bias_focus_panel();

namespace {

constexpr int kZooms[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 44, 54, 66, 88, 120};

class FocusPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override {
        return {"full-biases", "conv-biases"};
    }

  private:
    void draw_tools(Ui& ui, const BiasForm& form);
    [[nodiscard]] std::string caption_words(const ViewState& ui, const BiasForm& form) const;
    void step_zoom(int direction);
    void draw_map(PaneContext& ui, const BiasForm& form, ImVec2 area);
    void take_pointer(ViewState& ui, const BiasForm& form, const viz::MapReply& reply);
    void draw_bar(PaneContext& ui, const BiasForm& form, float width);
    [[nodiscard]] int64_t head(const ViewState& ui, const BiasForm& form) const;

    BiasLayers layers_;
    viz::Map map_;
    BiasInspector inspector_;
    BiasSide side_;
    bool exact_ = false;  // as FocusZoom has it
    viz::Zoom drawn_;
    int64_t layer_ = -1;
    struct Bars {  // the histogram, and what it was made of
        uint64_t version = 0;
        int64_t head = -1;
        Coloring coloring{};
        Distribution values{};
        std::vector<float> heights{};
        ClippedShare clipped{};
    } bars_;
};

int64_t FocusPanel::head(const ViewState& ui, const BiasForm& form) const {
    return form.heads > 1 ? std::clamp<int64_t>(ui.selection.cell.head, 0, form.heads - 1) : 0;
}

void FocusPanel::step_zoom(int direction) {
    const int now = drawn_.least();
    int next = now;
    if (direction > 0) {
        for (const int z : kZooms)
            if (z > now && next == now) next = z;
    } else {
        for (const int z : kZooms)
            if (z < now) next = z;
    }
    map_.set_zoom(next);
}

void FocusPanel::draw_tools(Ui& ui, const BiasForm& form) {
    bias_tools(ui, form, ImGui::GetContentRegionAvail().x - ui.px(190));
    ImGui::SameLine(0, ui.px(12));
    if (button(ui, {.name = "Zoom out##zoom_out",
                    .icon = icon::minus,
                    .kind = ButtonKind::icon,
                    .tip = "Fewer pixels per cell."})) {
        if (drawn_.least() <= 1) exact_ = false;
        step_zoom(-1);
    }
    ImGui::SameLine(0, ui.px(4));
    const Blocks block = layers_.has(layer_) ? layers_.layer(layer_).maps.front().block : Blocks();
    const std::string words = !block.is_single() ? "1:" + block.words() : cell_zoom_words(drawn_);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float wide = ui.px(84);
    text_at(ui, {at.x + wide / 2, at.y + ui.px(5)}, words,
            {text_size::label, ui.theme.text1, Face::regular, wide, viz::Align::centre});
    ImGui::Dummy({wide, ui.px(26)});
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = "Zoom in##zoom_in",
                    .icon = icon::plus,
                    .kind = ButtonKind::icon,
                    .tip = "More pixels per cell; numbers appear from 44."})) {
        if (!block.is_single()) {
            exact_ = true;
            map_.set_zoom(1);
        } else {
            step_zoom(1);
        }
    }
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = "Fit map##fit_map",
                    .icon = icon::fit,
                    .kind = ButtonKind::icon,
                    .tip = "The whole map."})) {
        exact_ = false;
        map_.set_zoom(0);
    }
}

void FocusPanel::take_pointer(ViewState& ui, const BiasForm& form, const viz::MapReply& reply) {
    const Blocks block = layers_.layer(layer_).maps.front().block;
    const auto cell_of = [&](viz::MapCell at) {
        return form.cell(layer_, head(ui, form), at.row * block.rows, at.column * block.columns);
    };
    if (reply.hovered.is_valid()) ui.selection.point(cell_of(reply.hovered));
    if (reply.clicked.is_valid()) ui.selection.lock(cell_of(reply.clicked));
    const bool wants_cells = reply.zoomed && ImGui::GetIO().MouseWheel > 0 && !block.is_single();
    if (wants_cells) {  // below one pixel per value, zooming in asks for the values themselves
        exact_ = true;
        map_.set_zoom(1);
        map_.show({reply.hovered.row * block.rows, reply.hovered.column * block.columns});
    } else if (reply.zoomed && ImGui::GetIO().MouseWheel < 0 && exact_ && reply.zoom.least() <= 1) {
        exact_ = false;
        map_.set_zoom(0);
    }
}

void FocusPanel::draw_map(PaneContext& ui, const BiasForm& form, ImVec2 area) {
    const BiasLayer& layer = layers_.layer(layer_);
    const int64_t shown_head = head(ui, form);
    const BiasMap& map = layer.maps[size_t(shown_head)];
    viz::MapView view;
    view.id = "focus map";
    view.data = map.data(layer.version);
    view.coloring = layers_.coloring(ui, layer_, shown_head);
    view.area = area;
    view.is_signed = is_signed(ui.selection.quantity) || shows_change(ui);
    view.free_axes = form.has_free_axes();
    view.dimmed = !layer.watch.is_current() && layer.watch.is_pending();
    set_bias_axes(view, form, Positions(ui.status, layer_), map.block);
    int64_t row = -1, column = -1;
    if (form.place(ui.selection.cell, row, column))
        view.target = {row / map.block.rows, column / map.block.columns};
    else if (const int64_t t = ui.selection.cell.target;
             !form.is_kernel() && t >= 0 && t < form.rows)
        view.target.row = t / map.block.rows;  // its row alone
    if (ui.selection.hover && form.place(*ui.selection.hover, row, column))
        view.source = {row / map.block.rows, column / map.block.columns};
    view.cross_hair = !form.is_kernel();
    view.row_band = !form.is_kernel();
    if (view.row_band && view.data.rows > 64) view.source = {};
    const viz::MapReply reply = map_.draw(view, ui);
    drawn_ = reply.zoom;
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Map##map"),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = fmt::format("layer {} {}x{} 1:{} zoom {}{}", layer_, map.rows,
                                           map.columns, map.block.words(), zoom_words(reply.zoom),
                                           shows_change(ui) ? ", change" : ""),
                      .why_not = {}});
    take_pointer(ui, form, reply);
    ImGui::SetCursorScreenPos({reply.map.low.x, reply.map.high.y + ui.px(8)});
    draw_bar(ui, form, std::max(ui.px(200), reply.map.width()));
}

void FocusPanel::draw_bar(PaneContext& ui, const BiasForm& form, float width) {
    const int64_t shown_head = head(ui, form);
    const Coloring coloring = layers_.coloring(ui, layer_, shown_head);
    const uint64_t version = layers_.layer(layer_).version;
    const bool same_map = bars_.version == version && bars_.head == shown_head;
    if (!same_map || !(coloring == bars_.coloring)) {
        if (!same_map) bars_.values = Distribution(layers_.visible_values(layer_, shown_head));
        bars_.heights = bars_.values.histogram(coloring.range, coloring.scale, 96);
        bars_.clipped = bars_.values.clipped_share(coloring.range);
        bars_.version = version;
        bars_.head = shown_head;
        bars_.coloring = coloring;
    }
    viz::ColorBarView bar;
    bar.coloring = coloring;
    bar.width = width;
    bar.histogram = bars_.heights;
    bar.clipped = bars_.clipped;
    const bool has_change = shows_change(ui);
    bar.percent = ui.selection.quantity == Quantity::row_share;
    bar.low_locked = ui.selection.quantity != Quantity::w && !has_change;
    bar.low_note =
        ui.selection.quantity == Quantity::exp_minus_one && !has_change && coloring.range.low <= -1
            ? "floor"
            : "";
    const BiasReading reading =
        read_bias(form, layers_.layer(layer_).maps[size_t(shown_head)], ui.selection.shown());
    if (!std::isnan(reading.value)) bar.marker = reading.value;
    const viz::ColorBarReply reply = draw_color_bar(bar, ui);
    ui.recorder.item("value", ui.recorder.claim("Colour range##colour_range"),
                     range_numbers(coloring.range));
    if (reply.reset) ui.selection.range_by_hand.reset();
    if (!reply.changed) return;
    Range range = reply.range;
    if (has_change || (ui.selection.quantity == Quantity::w && ui.selection.symmetric)) {
        const double m = range.high != coloring.range.high ? range.high : -range.low;
        range = {-m, m};
    } else if (ui.selection.quantity == Quantity::exp_minus_one) {
        range.low = std::max(-1.0, -range.high);
    }
    ui.selection.range_by_hand = range;
}

// How it is shown, or what is awaited.
std::string FocusPanel::caption_words(const ViewState& ui, const BiasForm& form) const {
    const bool is_global = ui.selection.range_mode == RangeMode::global;
    const int64_t ranged = layers_.ranged();
    const bool is_reading = layers_.error().empty();
    if (is_reading && !layers_.has(layer_))
        return fmt::format("Reading layer {} of {}", layer_ + 1, form.layers);
    if (is_reading && is_global && ranged < form.layers)
        return fmt::format("one range for all layers: reading layer {} of {}", ranged + 1,
                           form.layers);
    return bias_caption(ui, form, layers_.layer(layer_), true);
}

void FocusPanel::draw(Ui& ui) {
    layer_ = std::clamp<int64_t>(ui.selection.cell.layer, 0,
                                 std::max<int64_t>(1, int64_t(ui.status.layers.size())) - 1);
    const BiasForm form(ui.status, layer_);
    if (bias_state(ui, form)) return;
    const FocusZoom& kept = ui.selection.focus;
    map_.set_viewport({kept.zoom, kept.left, kept.top});
    exact_ = kept.is_exact;
    draw_tools(ui, form);
    const ImVec2 all = {ImGui::GetContentRegionAvail().x, canvas_height(ui)};
    const float head_space = ui.px(24) + ImGui::GetStyle().ItemSpacing.y, bar_space = ui.px(88);
    const bool has_side = all.x > ui.px(620);
    const ImVec2 area = {has_side ? std::floor(all.x * 0.6F) : all.x,
                         std::max(ui.px(80), all.y - head_space - bar_space)};
    const Blocks whole = form.blocks_for({area.x - ui.px(48), area.y - ui.px(24)});
    const bool is_global = ui.selection.range_mode == RangeMode::global;
    layers_.update(ui, {.block = exact_ ? Blocks() : whole,
                        .first = layer_,
                        .end = layer_ + 1,
                        .is_change = shows_change(ui),
                        .has_one_range = is_global});
    const BiasLayer& layer = layers_.layer(layer_);
    std::string what = "Layer " + layer_words(ui.status, layer_);
    what += form.heads > 1 ? fmt::format(", head {}: ", head(ui, form)) : ": ";
    draw_bias_caption(ui, what + bias_words(ui), caption_words(ui, form), layer);
    if (!layers_.error().empty())
        banner(ui, {.title = "This bias could not be read", .sentence = layers_.error()});
    if (layers_.pending() > 0 && !layer.watch.is_current()) (void)progress_line(ui, "", -1);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    if (layers_.has(layer_)) draw_map(ui, form, area);
    const viz::MapViewport shown = map_.viewport();
    ui.selection.focus = {shown.zoom, shown.left, shown.top, exact_};
    if (has_side && layers_.has(layer_)) {
        const float left = corner.x + area.x + ui.px(24);
        const ImVec2 available = {corner.x + all.x - left, all.y - head_space};
        side_.draw(ui, form, layers_,
                   {{left, corner.y}, {left + available.x, corner.y + available.y}});
    }
    BiasReading reading;
    reading.cell = ui.selection.shown();
    reading.value = reading.w = std::numeric_limits<double>::quiet_NaN();
    if (layers_.has(layer_))
        reading = read_bias(form, layer.maps[size_t(head(ui, form))], reading.cell);
    auto values = bias_read_out(ui, form, reading);
    side_.add_exact(ui, reading, values);
    std::vector<ReadOut> locked;
    if (ui.selection.locked && ui.selection.hover && layers_.has(layer_))
        locked = bias_read_out(
            ui, form, read_bias(form, layer.maps[size_t(head(ui, form))], ui.selection.cell));
    hover_line(ui, values, lock_words(ui, "Hover reads, click locks, M opens the Atlas"), locked);
}

void FocusPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model()) return;
    const BiasForm form(ui.status, ui.selection.shown().layer);
    if (form.layout != BiasLayout::none && layers_.has(ui.selection.shown().layer))
        inspector_.draw(ui, form, layers_);
}

}  // namespace

PanelRoom bias_focus_panel() {
    return {{"Focus", "one bias map down to single cells, and what it means for one target"},
            "focus",
            icon::zoom_in,
            "The wheel zooms in whole pixels; from 44 pixels a cell shows its number. For maps of "
            "all positions the row of the chosen target is folded back into the picture or text: "
            "where this position looks by prior alone.",
            {{Workspace::biases, Slot::canvas, 1}},
            make_panel<FocusPanel>};
}

}  // namespace aft::app
