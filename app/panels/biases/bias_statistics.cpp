// Statistics: one row per layer (and head): limits, mean, Frobenius norm, entropy and reach of its
// bias.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/shared/positions.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/curves.h"
#include "viz/map.h"

namespace aft::app {

PanelRoom bias_statistics_panel();

namespace {

constexpr int64_t kCells = 192;  // blocks per side: enough for limits and means

class StatisticsPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    struct StatisticsRow {
        uint64_t version = 0;
        MapStatistics numbers;
    };
    void refresh(const PaneContext& ui, const BiasForm& form);
    void draw_table(PaneContext& ui, const BiasForm& form);
    void draw_selected(PaneContext& ui) const;
    [[nodiscard]] std::vector<double> layer_norms(const BiasForm& form) const;
    BiasLayers layers_;
    std::optional<uint64_t> cancelled_;  // of this opening: what is here stays, no more is read
    std::vector<StatisticsRow> lines_;   // layers x heads
};

void StatisticsPanel::refresh(const PaneContext& ui, const BiasForm& form) {
    if (cancelled_ == ui.opened) return;
    cancelled_.reset();
    Blocks block;
    if (!form.is_kernel())
        block.rows = block.columns = viz::block_size(std::max(form.rows, form.columns), kCells);
    layers_.update(ui, {.block = block, .first = 0, .end = form.layers});
    lines_.resize(size_t(form.layers * form.heads));
    for (size_t i = 0; i < lines_.size(); ++i) {
        const auto layer = int64_t(i) / form.heads, head = int64_t(i) % form.heads;
        if (!layers_.has(layer) || lines_[i].version == layers_.layer(layer).version) continue;
        const BiasForm& own = layers_.form(layer);
        if (head >= own.heads) continue;  // others have more
        lines_[i] = {
            layers_.layer(layer).version,
            bias_statistics(own, layers_.layer(layer).maps[size_t(head)], ui.selection.quantity)};
    }
}

std::string distance_unit(const ViewState& ui) {
    const Positions positions(ui.status);
    return positions.channels > 1 ? "cells" : positions.several();
}

std::string near_words(const ViewState& ui) {
    const Positions positions(ui.status);
    return std::string("Within 1 ") + (positions.channels > 1 ? "cell" : positions.one());
}

void StatisticsPanel::draw_table(PaneContext& ui, const BiasForm& form) {
    const bool has_kernel = form.layout == BiasLayout::kernel_2d, has_heads = form.has_heads();
    const Quantity quantity = ui.selection.quantity;
    const bool has_names = has_layer_names(ui.status);
    std::vector<Column> columns = {{.title = "Layer", .width = has_names ? 180.0F : 80.0F}};
    if (has_heads) columns.push_back({.title = "Head", .width = 60});
    for (const char* const title : {"Minimum", "Maximum", "Mean", kFrobeniusNorm})
        columns.push_back({.title = title, .right = true});
    if (has_kernel)
        for (const std::string& title : {std::string("Entropy, bit"),
                                         "Distance, " + distance_unit(ui), near_words(ui) + ", %"})
            columns.push_back({.title = title, .right = true});
    std::vector<TableRow> rows;
    std::vector<Cell> places;
    for (size_t i = 0; i < lines_.size(); ++i) {
        const auto layer = int64_t(i) / form.heads, head = int64_t(i) % form.heads;
        if (head >= layers_.form(layer).heads) continue;
        places.push_back({.layer = layer, .head = has_heads ? head : -1});
        const MapStatistics& n = lines_[i].numbers;
        const bool there = lines_[i].version != 0;
        const auto number = [&](double v) { return there ? shown_value(quantity, v) : "\u2013"; };
        TableRow row{.name = has_heads ? fmt::format("L{0} h{1}##l{0}_h{1}", layer, head)
                                       : fmt::format("L{0}##l{0}", layer)};
        row.cells = {layer_words(ui.status, layer)};
        if (has_names) row.full = full_layer_words(ui.status, layer);
        if (has_heads) row.cells.push_back(std::to_string(head));
        row.values.assign(row.cells.size(), NAN);
        if (there) {
            row.values.insert(row.values.end(), {n.low, n.high, n.mean, n.norm});
            if (has_kernel)
                row.values.insert(row.values.end(),
                                  {n.entropy, n.mean_distance, 100 * n.within_one});
        }
        for (const double v : {n.low, n.high, n.mean}) row.cells.push_back(number(v));
        if (has_kernel)
            for (const double v : {n.norm, n.entropy, n.mean_distance, 100 * n.within_one})
                row.cells.push_back(there ? short_value(v, 2) : "\u2013");
        else
            row.cells.push_back(there ? stored_value(n.norm) : "\u2013");
        row.selected = layer == ui.selection.cell.layer &&
                       (!has_heads || head == std::max<int64_t>(0, ui.selection.cell.head));
        rows.push_back(std::move(row));
    }
    const int pressed = table(ui, "Layers##layers", columns, rows);
    if (pressed < 0) return;
    ui.selection.lock(places[size_t(pressed)]);
}

// Of a layer's heads together; NaN while one of them has not been read.
std::vector<double> StatisticsPanel::layer_norms(const BiasForm& form) const {
    std::vector<double> norms(size_t(form.layers), 0);
    for (size_t i = 0; i < lines_.size(); ++i) {
        double& norm = norms[i / size_t(form.heads)];
        const auto layer = int64_t(i) / form.heads, head = int64_t(i) % form.heads;
        if (head >= layers_.form(layer).heads) continue;
        norm = lines_[i].version == 0 ? NAN : std::hypot(norm, lines_[i].numbers.norm);
    }
    return norms;
}

void StatisticsPanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    bias_tools(ui, form, ImGui::GetContentRegionAvail().x);
    refresh(ui, form);
    const int64_t there = layers_read(layers_, form.layers);
    const bool is_reading = there < form.layers && layers_.error().empty();
    caption(ui, std::string("Statistics of ") + quantity_words(ui.selection.quantity),
            is_reading ? fmt::format("Reading layer {} of {}", there + 1, form.layers)
                       : gauge_words(form, layers_.layer(0)) + "  \u00B7  " +
                             step_words(ui, layers_.layer(0).watch.fields()));
    if (is_reading && !cancelled_ &&
        progress_line(ui, "Reading every layer", double(there) / double(form.layers), true)) {
        cancelled_ = ui.opened;
        cancel(layers_, ui);
    }
    if (cancelled_ && cancelled_line(ui, fmt::format("{} of {} layers read.", there, form.layers)))
        cancelled_.reset();
    if (!layers_.error().empty())
        banner(ui, {.title = "A bias could not be read", .sentence = layers_.error()});
    const std::vector<double> norms = layer_norms(form);
    const std::string of_pairs =
        pairs_and_gauge(form.is_kernel(), ui.selection.gauge == Gauge::fixed);
    section(ui,
            fmt::format("{} of {} by layer##norm_by_layer", kFrobeniusNorm,
                        quantity_words(ui.selection.quantity)),
            of_pairs, false);
    const int clicked =
        draw_bars({.id = "norms",
                   .values = norms,
                   .size = {std::min(ImGui::GetContentRegionAvail().x, ui.px(560)), ui.px(130)},
                   .highlighted = int(ui.selection.cell.layer)},
                  ui)
            .clicked;
    if (clicked >= 0) ui.selection.cell.layer = clicked;
    section(ui, form.heads > 1 ? "Layers and heads##layers" : "Layers##layers", of_pairs);
    if (ImGui::BeginChild("rows", {0, std::max(ui.px(60), canvas_height(ui))},
                          ImGuiChildFlags_NavFlattened))
        draw_table(ui, form);
    ImGui::EndChild();
    const double norm = norms[size_t(ui.selection.cell.layer)];
    const ReadOut values[] = {
        {"layer", std::to_string(ui.selection.cell.layer)},
        {fmt::format("{} of {}, {}", kFrobeniusNorm, quantity_words(ui.selection.quantity),
                     of_pairs),
         std::isnan(norm) ? "\u2013" : stored_value(norm), exact_number(float(norm))}};
    hover_line(ui, values, "A row selects its layer");
}

// The numbers of the selected row, under its names.
void StatisticsPanel::draw_selected(PaneContext& ui) const {
    const int64_t layer = ui.selection.cell.layer;
    const BiasForm form(ui.status);
    const int64_t head =
        form.has_heads() ? std::clamp<int64_t>(ui.selection.cell.head, 0, form.heads - 1) : 0;
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Layer##layer", layer_words(ui.status, layer));
    if (form.has_heads()) key_value(ui, "Head##head", std::to_string(head));
    const auto at = size_t(layer * form.heads + head);
    if (at >= lines_.size() || lines_[at].version == 0) return;
    const MapStatistics& n = lines_[at].numbers;
    const Quantity quantity = ui.selection.quantity;
    key_value(ui, "Minimum##minimum", shown_value(quantity, n.low));
    key_value(ui, "Maximum##maximum", shown_value(quantity, n.high));
    key_value(ui, "Mean##mean", shown_value(quantity, n.mean));
    if (std::isfinite(n.norm))
        key_value(ui, {kFrobeniusNorm, "frobenius_norm"}, stored_value(n.norm));
    if (form.layout != BiasLayout::kernel_2d) return;
    key_value(ui, "Entropy##entropy", plain_number(n.entropy, 2), "bit");
    key_value(ui, "Mean distance##mean_distance", plain_number(n.mean_distance, 2),
              distance_unit(ui));
    key_value(ui, {near_words(ui), "within_1"}, plain_number(100 * n.within_one, 2), "%");
}

void StatisticsPanel::inspector(Ui& ui) {
    const int64_t layer = ui.selection.cell.layer;
    if (!is_front() || !ui.has_model() || !layers_.has(layer)) return;
    draw_selected(ui);
    section(ui, "Actions##actions");
    copy_command_button(ui, bias_command(ui, layers_.form(layer), layers_, layer),
                        "Copies the command that writes the map of the selected layer, of which "
                        "these are the statistics.");
}

}  // namespace

PanelRoom bias_statistics_panel() {
    return {{"Statistics", "limits, mean, Frobenius norm and reach of every layer's bias"},
            "statistics",
            icon::chart,
            "One row per layer, and per head for kernels. Press a row to select it in all views.",
            {{Workspace::biases, Slot::canvas, 2}},
            make_panel<StatisticsPanel>};
}

}  // namespace aft::app
