// Atlas: the position biases of all layers (and heads) at once, on ranges that can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/bias_tools.h"
#include "app/ui/panel.h"
#include "core/text.h"
#include "viz/atlas.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom bias_atlas_panel();

namespace {

struct Arrangement {
    viz::AtlasShape shape;
    int64_t block = 1;
};

// Kernels: layers x heads. Matrices: one map per layer, in blocks so that all of them fit.
Arrangement arrange(const Ui& ui, const BiasForm& form, ImVec2 area) {
    Arrangement out;
    viz::AtlasShape& shape = out.shape;
    if (form.kind == BiasForm::Kind::kernel2) {
        shape = {.rows = int(form.layers),
                 .columns = int(form.heads),
                 .tile_rows = form.rows,
                 .tile_columns = form.columns,
                 .row_label = ui.px(34),
                 .column_label = ui.px(24)};
        const bool has_room = area.x > ui.px(860);
        if (has_room && ui.selection.range_mode == RangeMode::layer) shape.row_bar = ui.px(134);
        return out;
    }
    shape.column_label = ui.px(8);
    shape.cell_label = ui.px(26);
    shape.stretch = form.stretch();
    const int64_t largest = std::max(form.rows, form.columns * shape.stretch);
    for (out.block = 1;; ++out.block) {
        shape.tile_rows = (form.rows + out.block - 1) / out.block;
        shape.tile_columns = (form.columns + out.block - 1) / out.block;
        shape.columns = viz::best_columns(int(form.layers), shape, area, ui.look.scale);
        shape.rows = (int(form.layers) + shape.columns - 1) / shape.columns;
        const viz::AtlasLayout layout = viz::layout_atlas(shape, area, ui.look.scale);
        const bool fits = layout.size.x <= area.x && layout.size.y <= area.y;
        if (fits || form.is_kernel() || largest / out.block <= 24) return out;
    }
}

class AtlasPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    void make_cells(Ui& ui, const BiasForm& form, const Arrangement& plan);
    void draw_maps(Ui& ui, const BiasForm& form, const Arrangement& plan, ImVec2 area);
    void take_pointer(Ui& ui, const BiasForm& form, const Arrangement& plan,
                      const viz::AtlasReply& reply);
    void record_cells(Ui& ui, const Arrangement& plan, const viz::AtlasReply& reply);
    void draw_shared_bar(Ui& ui);

    BiasLayers layers_;
    viz::Atlas atlas_;
    std::vector<viz::AtlasCell> cells_;
    std::vector<std::string> row_labels_, column_labels_;
    BiasInspector inspector_;
    uint64_t drawn_ = 0;  // frame
};

void AtlasPanel::make_cells(Ui& ui, const BiasForm& form, const Arrangement& plan) {
    cells_.assign(size_t(form.layers * form.heads), {});
    row_labels_.clear();
    column_labels_.clear();
    const bool is_grid = form.kind == BiasForm::Kind::kernel2;
    for (int64_t layer = 0; layer < form.layers; ++layer) {
        if (is_grid) row_labels_.push_back(fmt::format("L{}", layer));
        for (int64_t head = 0; head < form.heads; ++head) {
            viz::AtlasCell& cell = cells_[size_t(layer * form.heads + head)];
            if (!is_grid) cell.label = fmt::format("Layer {}", layer);
            if (!layers_.has(layer)) continue;
            const BiasLayer& source = layers_.layer(layer);
            const BiasMap& map = source.maps[size_t(head)];
            if (map.rows > plan.shape.tile_rows || map.columns > plan.shape.tile_columns) continue;
            cell.data = map.data(source.version);
            cell.coloring = layers_.coloring(ui, layer, head);
            cell.dimmed = source.watch.is_pending() && !source.watch.is_current();
            if (!is_grid)
                cell.bar_text = viz::bar_number(cell.coloring.range.low, false) + " to " +
                                viz::bar_number(cell.coloring.range.high, false);
        }
    }
    for (int64_t head = 0; is_grid && head < form.heads; ++head)
        column_labels_.push_back(fmt::format("h{}", head));
    for (const Pin& pin : ui.selection.pins) {
        const int64_t head = is_grid ? std::max<int64_t>(0, pin.cell.head) : 0;
        const auto at = size_t(pin.cell.layer * form.heads + head);
        if (at < cells_.size()) cells_[at].pinned = true;
    }
}

void AtlasPanel::take_pointer(Ui& ui, const BiasForm& form, const Arrangement& plan,
                              const viz::AtlasReply& reply) {
    const auto cell_of = [&](const viz::AtlasHit& hit) {
        const bool is_grid = form.kind == BiasForm::Kind::kernel2;
        const int64_t layer = is_grid ? hit.row : hit.row * plan.shape.columns + hit.column;
        return form.cell(layer, is_grid ? hit.column : 0, hit.cell.row * plan.block,
                         hit.cell.column * plan.block);
    };
    if (reply.hovered.is_valid()) ui.selection.point(cell_of(reply.hovered));
    if (reply.clicked.is_valid()) ui.selection.lock(cell_of(reply.clicked));
    if (reply.double_clicked.is_valid()) (void)ui.actions.run(ui, "Atlas or focus");
}

void AtlasPanel::record_cells(Ui& ui, const Arrangement& plan, const viz::AtlasReply& reply) {
    for (size_t i = 0; i < cells_.size(); ++i) {
        const int row = int(i) / plan.shape.columns, column = int(i) % plan.shape.columns;
        const viz::Box box = reply.layout.cell(row, column);
        const std::string name =
            row_labels_.empty() ? cells_[i].label
                                : row_labels_[size_t(row)] + " " + column_labels_[size_t(column)];
        ui.recorder.area({.kind = "map",
                          .label = ui.recorder.claim(name),
                          .min = {reply.box.low.x + box.low.x, reply.box.low.y + box.low.y},
                          .max = {reply.box.low.x + box.high.x, reply.box.low.y + box.high.y},
                          .value = cells_[i].data.values.empty() ? "loading" : "drawn",
                          .why_not = {}});
    }
}

void AtlasPanel::draw_maps(Ui& ui, const BiasForm& form, const Arrangement& plan, ImVec2 area) {
    make_cells(ui, form, plan);
    const Cell& chosen = ui.selection.cell;
    viz::AtlasView view;
    view.shape = plan.shape;
    view.cells = cells_;
    view.row_labels = row_labels_;
    view.column_labels = column_labels_;
    view.area = area;
    const bool is_grid = form.kind == BiasForm::Kind::kernel2;
    view.selected_row = int(is_grid ? chosen.layer : chosen.layer / plan.shape.columns);
    view.selected_column =
        int(is_grid ? std::max<int64_t>(0, chosen.head) : chosen.layer % plan.shape.columns);
    view.raise_selected_row = is_grid;
    const viz::AtlasReply reply = atlas_.draw(view, ui.look);
    record_cells(ui, plan, reply);
    take_pointer(ui, form, plan, reply);
}

void AtlasPanel::draw_shared_bar(Ui& ui) {
    viz::ColorBarView bar;
    bar.coloring = layers_.coloring(ui, 0, 0);
    bar.width = std::min(ImGui::GetContentRegionAvail().x - ui.px(16), ui.px(520));
    bar.can_drag = false;
    bar.low_note = ui.selection.quantity == Quantity::exp_minus_one ? "floor" : "";
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(4));
    (void)draw_color_bar(bar, ui.look);
}

void AtlasPanel::draw(Ui& ui) {
    drawn_ = ui.stats.frames;
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    bias_tools(ui, form, ImGui::GetContentRegionAvail().x);
    const bool has_bar = ui.selection.range_mode == RangeMode::global;
    const float below = has_bar ? ui.px(44) : ui.px(4);
    ImVec2 area = {ImGui::GetContentRegionAvail().x,
                   canvas_height(ui) - ui.px(24) - ImGui::GetStyle().ItemSpacing.y - below};
    area.y = std::max(area.y, ui.px(60));
    const Arrangement plan = arrange(ui, form, area);
    layers_.update(ui, form, {.block = plan.block, .first = 0, .end = form.layers});
    int64_t there = 0;
    for (int64_t i = 0; i < form.layers; ++i) there += layers_.has(i) ? 1 : 0;
    const bool is_reading = there < form.layers && layers_.error().empty();
    caption(ui, quantity_words(ui.selection.quantity),
            is_reading ? fmt::format("Reading layer {} of {}", there + 1, form.layers)
                       : bias_caption(ui, form, layers_.layer(ui.selection.cell.layer), true));
    if (is_reading) (void)progress_line(ui, "", double(there) / double(form.layers));
    if (!layers_.error().empty())
        banner(ui, {.title = "A bias could not be read", .sentence = layers_.error()});
    draw_maps(ui, form, plan, area);
    if (has_bar && layers_.has(0)) draw_shared_bar(ui);
    const Cell cell = ui.selection.shown();
    BiasReading reading;
    reading.cell = cell;
    reading.value = std::numeric_limits<double>::quiet_NaN();
    if (layers_.has(cell.layer)) {
        const auto& maps = layers_.layer(cell.layer).maps;
        const auto head = std::clamp<int64_t>(cell.head, 0, int64_t(maps.size()) - 1);
        reading = read_bias(form, maps[size_t(form.heads > 1 ? head : 0)], cell);
    }
    const auto values = bias_read_out(ui, form, reading);
    hover_line(ui, values, lock_words(ui, "Hover reads, click locks, P pins, M opens Focus"));
}

void AtlasPanel::inspector(Ui& ui) {
    if (ui.stats.frames - drawn_ > 1 || !ui.has_model()) return;
    const BiasForm form(ui.status);
    if (form.kind != BiasForm::Kind::none && layers_.has(ui.selection.shown().layer))
        inspector_.draw(ui, form, layers_);
}

}  // namespace

PanelRoom bias_atlas_panel() {
    return {{"Atlas", "the position biases of all layers and heads at once"},
            icon::grid,
            "Every map shows how much a target listens to a source. Choose the quantity and whose "
            "values set the range; hover for exact values, click to lock, M or a double click "
            "opens Focus.",
            {{Workspace::biases, Slot::canvas, 0}},
            [] { return std::unique_ptr<Panel>(std::make_unique<AtlasPanel>()); }};
}

}  // namespace aft::app
