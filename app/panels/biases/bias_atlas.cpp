// Atlas: the position biases of all layers (and heads) at once, on ranges that can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/biases/bias_order.h"
#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/lock_words.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "viz/atlas.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom bias_atlas_panel();

namespace {

// Where the map of a layer and head stands. Kernels: a layer's heads fill `lines` rows of the grid.
// Others: one map per layer, row by row.
struct Arrangement {
    viz::AtlasShape shape;
    Blocks block;
    int lines = 1;
    bool is_grid = false;  // layers x heads
    const BiasOrder* order = nullptr;

    [[nodiscard]] viz::AtlasHit at(int64_t layer, int64_t head) const {
        const auto i = int(order->place_of(layer, head));
        const int first = is_grid ? int(layer) * lines : 0;
        return {first + i / shape.columns, i % shape.columns, {}};
    }
    [[nodiscard]] size_t index(int64_t layer, int64_t head) const {
        const viz::AtlasHit place = at(layer, head);
        return size_t(place.row) * size_t(shape.columns) + size_t(place.column);
    }
    [[nodiscard]] int64_t layer_of(const viz::AtlasHit& hit) const {
        return is_grid ? hit.row / lines : order->layer_at(hit.row * shape.columns + hit.column);
    }
    [[nodiscard]] int64_t head_of(const viz::AtlasHit& hit) const {
        if (!is_grid) return 0;
        return order->head_at(hit.row / lines, hit.row % lines * shape.columns + hit.column);
    }
};

// Chooses the blocks for a grid of maps; returns the pixels that hold values, the less the more
// values share one.
float fit_blocks(Arrangement& plan, const BiasForm& form, ImVec2 area, float scale) {
    viz::AtlasShape& shape = plan.shape;
    const float gap = 2 * scale;
    const ImVec2 available = {
        (area.x - shape.row_label - shape.row_bar) / float(shape.columns) - gap,
        (area.y - shape.column_label) / float(shape.rows) - shape.cell_label - gap};
    plan.block =
        form.blocks_for({std::max(24 * scale, available.x), std::max(24 * scale, available.y)});
    shape.tile_rows = (form.rows + plan.block.rows - 1) / plan.block.rows;
    shape.tile_columns = (form.columns + plan.block.columns - 1) / plan.block.columns;
    const viz::AtlasLayout layout = viz::layout_atlas(shape, area, scale);
    const bool fits = layout.size.x <= area.x + 1 && layout.size.y <= area.y + 1;
    const float pixels =
        layout.tile.x * layout.tile.y / float(plan.block.rows * plan.block.columns);
    if (fits) return pixels;
    // It scrolls: then as many side by side as the width takes.
    return layout.size.x <= area.x + 1 ? 1e-3F * float(shape.columns) : 0;
}

// Pixels of one map, where all of them fit; else 0.
float pixels_of(const viz::AtlasShape& shape, ImVec2 area, float scale) {
    const viz::AtlasLayout layout = viz::layout_atlas(shape, area, scale);
    const bool fits = layout.size.x <= area.x + 1 && layout.size.y <= area.y + 1;
    return fits ? layout.tile.x * layout.tile.y : 0;
}

// The same for screens with more pixels: what a map is worth is counted as at scale 1, so that it
// has as much of the pane; of the blocks that suit either, those with which it becomes larger.
float fit_scaled(Arrangement& plan, const BiasForm& form, ImVec2 area, float scale) {
    const float unit = std::max(1.0F, scale);
    Arrangement plain = plan;
    for (float* const space : {&plain.shape.row_label, &plain.shape.column_label,
                               &plain.shape.cell_label, &plain.shape.row_bar})
        *space /= unit;
    const float worth = fit_blocks(plain, form, {area.x / unit, area.y / unit}, scale / unit);
    (void)fit_blocks(plan, form, area, scale);
    viz::AtlasShape coarse = plan.shape;
    coarse.tile_rows = plain.shape.tile_rows;
    coarse.tile_columns = plain.shape.tile_columns;
    if (pixels_of(coarse, area, scale) > pixels_of(plan.shape, area, scale)) {
        plan.shape = coarse;
        plan.block = plain.block;
    }
    return worth;
}

// Maps of heads: layers x heads; few layers get several lines each, so that their maps become
// larger.
Arrangement arrange_grid(const PaneContext& ui, const BiasForm& form, ImVec2 area,
                         const BiasOrder& order) {
    Arrangement out;
    out.is_grid = true;
    out.order = &order;
    const bool has_bars = area.x > ui.px(860) && ui.selection.range_mode == RangeMode::layer;
    float best = -1;
    for (int lines = 1; lines <= int(form.heads); ++lines) {
        if (form.heads % lines != 0) continue;
        Arrangement tried = out;
        tried.lines = lines;
        tried.shape = {.rows = int(form.layers) * lines,
                       .columns = int(form.heads) / lines,
                       .row_label = ui.px(has_layer_names(ui.status) ? 132 : 34),
                       .column_label = ui.px(lines == 1 && !order.is_sorted() ? 24 : 6),
                       .cell_label = lines == 1 && !order.is_sorted() ? 0 : ui.px(22),
                       .row_bar = has_bars ? ui.px(134) : 0};
        const float used = fit_scaled(tried, form, area, ui.scale);
        if (used <= best) continue;
        best = used;
        out = tried;
    }
    return out;
}

// Matrices and bands: one map per layer, in blocks so that all of them fit.
Arrangement arrange(const PaneContext& ui, const BiasForm& form, ImVec2 area,
                    const BiasOrder& order) {
    if (form.has_heads()) return arrange_grid(ui, form, area, order);
    Arrangement out;
    out.order = &order;
    viz::AtlasShape& shape = out.shape;
    shape.column_label = ui.px(8);
    shape.cell_label = ui.px(26);
    shape.free_axes = form.has_free_axes();
    float best = -1;
    for (int columns = 1; columns <= int(form.layers); ++columns) {
        Arrangement tried = out;
        tried.shape.columns = columns;
        tried.shape.rows = (int(form.layers) + columns - 1) / columns;
        const float used = fit_scaled(tried, form, area, ui.scale);
        // Large, but not at the price of exactness; then side by side.
        if (used < best) continue;
        best = used;
        out = tried;
    }
    return out;
}

class AtlasPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override {
        return {"full-biases", "conv-biases"};
    }

  private:
    void make_cells(const PaneContext& ui, const BiasForm& form, const Arrangement& plan);
    void draw_maps(Ui& ui, const BiasForm& form, const Arrangement& plan, ImVec2 area);
    void take_pointer(Ui& ui, const BiasForm& form, const Arrangement& plan,
                      const viz::AtlasReply& reply);
    void record_cells(DrawContext& ui, const Arrangement& plan, const viz::AtlasReply& reply);
    void name_rows(PaneContext& ui, const BiasForm& form, const Arrangement& plan,
                   const viz::AtlasReply& reply) const;
    void draw_shared_bar(PaneContext& ui);
    [[nodiscard]] BiasReading reading_at(const BiasForm& form, const Cell& cell) const;

    BiasLayers layers_;
    BiasOrder order_;
    viz::Atlas atlas_;
    std::vector<viz::AtlasCell> cells_;
    std::vector<WidgetName> names_;  // of the cells
    std::vector<std::string> row_labels_, column_labels_;
    BiasInspector inspector_;
};

void AtlasPanel::make_cells(const PaneContext& ui, const BiasForm& form, const Arrangement& plan) {
    cells_.assign(size_t(form.layers * form.heads), {});
    names_.assign(cells_.size(), {});
    row_labels_.assign(plan.is_grid ? size_t(plan.shape.rows) : 0, "");
    column_labels_.clear();
    for (int64_t layer = 0; layer < form.layers; ++layer) {
        if (plan.is_grid)
            row_labels_[size_t(layer * plan.lines)] = "L" + layer_words(ui.status, layer);
        const int64_t heads = layers_.form(layer).heads;  // others may have more: no name there
        for (int64_t head = 0; head < heads; ++head) {
            const size_t at = plan.index(layer, head);
            viz::AtlasCell& cell = cells_[at];
            names_[at] = plan.is_grid ? fmt::format("L{0} h{1}##l{0}_h{1}", layer, head)
                                      : fmt::format("Layer {0}##layer_{0}", layer);
            const std::string key = order_.key_words(layer, head);
            if (plan.is_grid && (plan.lines > 1 || order_.is_sorted())) {
                cell.label = fmt::format("h{} {}", head, key);
                cell.brief = fmt::format("h{}", head);
            }
            if (!plan.is_grid) {
                cell.label =
                    "Layer " + layer_words(ui.status, layer) + (key.empty() ? "" : ": " + key);
                cell.brief = fmt::format("L{}", layer);
            }
            if (!layers_.has(layer)) continue;
            const BiasLayer& source = layers_.layer(layer);
            if (head >= int64_t(source.maps.size())) continue;  // of another shape, on its way
            const BiasMap& map = source.maps[size_t(head)];
            if (map.rows > plan.shape.tile_rows || map.columns > plan.shape.tile_columns) continue;
            cell.data = map.data(source.version);
            cell.coloring = layers_.coloring(ui, layer, head);
            cell.dimmed = source.watch.is_pending() && !source.watch.is_current();
            const Range& range = cell.coloring.range;
            if (!plan.is_grid)
                cell.bar_text = viz::bar_number(range.low, false, range) + " to " +
                                viz::bar_number(range.high, false, range);
        }
    }
    const bool has_columns = plan.is_grid && plan.lines == 1 && !order_.is_sorted();
    for (int64_t head = 0; has_columns && head < form.heads; ++head)
        column_labels_.push_back(fmt::format("h{}", head));
    for (const Pin& pin : ui.selection.pins) {
        const size_t at = plan.index(pin.cell.layer, plan.is_grid ? pin.cell.head : 0);
        if (at < cells_.size()) cells_[at].pinned = true;
    }
}

void AtlasPanel::take_pointer(Ui& ui, const BiasForm& form, const Arrangement& plan,
                              const viz::AtlasReply& reply) {
    // A map that is smaller than others fills its tile all the same.
    const auto place = [](int64_t at, int64_t tile, int64_t cells, int64_t block) {
        return at * ((cells + block - 1) / block) / tile * block;
    };
    const auto cell_of = [&](const viz::AtlasHit& hit) {
        const int64_t layer = std::clamp<int64_t>(plan.layer_of(hit), 0, form.layers - 1);
        const BiasForm& own = layers_.form(layer);
        return own.cell(
            layer, std::min(plan.head_of(hit), own.heads - 1),
            place(hit.cell.row, plan.shape.tile_rows, own.rows, plan.block.rows),
            place(hit.cell.column, plan.shape.tile_columns, own.columns, plan.block.columns));
    };
    if (reply.hovered.is_valid()) ui.selection.point(cell_of(reply.hovered));
    if (reply.clicked.is_valid()) ui.selection.lock(cell_of(reply.clicked));
    if (reply.double_clicked.is_valid()) (void)ui.actions.run(ui, "view.atlas_or_focus");
}

void AtlasPanel::record_cells(DrawContext& ui, const Arrangement& plan,
                              const viz::AtlasReply& reply) {
    for (size_t i = 0; i < cells_.size(); ++i) {
        if (names_[i].words.empty()) continue;
        const int row = int(i) / plan.shape.columns, column = int(i) % plan.shape.columns;
        const viz::Box box = reply.layout.cell(row, column);
        ui.recorder.area({.kind = "map",
                          .path = ui.recorder.claim(names_[i]),
                          .min = {reply.box.low.x + box.low.x, reply.box.low.y + box.low.y},
                          .max = {reply.box.low.x + box.high.x, reply.box.low.y + box.high.y},
                          .value = cells_[i].data.values.empty() ? "loading" : "drawn",
                          .why_not = {}});
    }
}

// Names of layers are shortened: their tooltips have them whole.
void AtlasPanel::name_rows(PaneContext& ui, const BiasForm& form, const Arrangement& plan,
                           const viz::AtlasReply& reply) const {
    if (!plan.is_grid || !has_layer_names(ui.status)) return;
    const ImVec2 cursor = ImGui::GetCursorScreenPos();
    for (int64_t layer = 0; layer < form.layers; ++layer) {
        const viz::Box row = reply.layout.cell(int(layer) * plan.lines, 0);
        if (row.height() < 1) continue;
        ImGui::SetCursorScreenPos({reply.box.low.x, reply.box.low.y + row.low.y});
        ImGui::Dummy({plan.shape.row_label, row.height()});
        tooltip(ui, {.name = "Layer " + full_layer_words(ui.status, layer)});
    }
    ImGui::SetCursorScreenPos(cursor);
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
    const viz::AtlasHit place = plan.at(chosen.layer, chosen.head);
    view.selected_row = place.row;
    view.selected_column = place.column;
    view.raise_selected_row = plan.is_grid;
    int64_t mark_row = -1, mark_column = -1;
    if (ui.selection.locked && form.place(chosen, mark_row, mark_column))
        view.mark = {mark_row / plan.block.rows, mark_column / plan.block.columns};
    const viz::AtlasReply reply = atlas_.draw(view, ui);
    record_cells(ui, plan, reply);
    name_rows(ui, form, plan, reply);
    take_pointer(ui, form, plan, reply);
}

void AtlasPanel::draw_shared_bar(PaneContext& ui) {
    viz::ColorBarView bar;
    bar.coloring = layers_.coloring(ui, 0, 0);
    bar.width = std::min(ImGui::GetContentRegionAvail().x - ui.px(16), ui.px(520));
    bar.can_drag = false;
    if (ui.selection.quantity == Quantity::exp_minus_one && !shows_change(ui))
        bar.low_note = "floor";
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(4));
    (void)draw_color_bar(bar, ui);
    ui.recorder.item("value", ui.recorder.claim("Colour range##colour_range"),
                     range_numbers(bar.coloring.range));
}

void AtlasPanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    order_.follow(ui);
    const Tool own[] = {{170, [&] { order_.draw_tool(ui); }}};
    bias_tools(ui, form, ImGui::GetContentRegionAvail().x, own);
    const bool has_bar = ui.selection.range_mode == RangeMode::global;
    const float below = has_bar ? ui.px(44) : ui.px(4);
    ImVec2 area = {ImGui::GetContentRegionAvail().x,
                   canvas_height(ui) - ui.px(24) - ImGui::GetStyle().ItemSpacing.y - below};
    area.x += ui.px(4);  // into the pane's padding: two maps of 512 fit into 1600
    area.y = std::max(area.y, ui.px(60));
    const Arrangement plan = arrange(ui, form, area, order_);
    layers_.update(ui, {.block = plan.block,
                        .first = 0,
                        .end = form.layers,
                        .is_change = shows_change(ui),
                        .has_one_range = has_bar});
    order_.update(ui, layers_, plan.is_grid);
    int64_t there = layers_read(layers_, form.layers);
    if (has_bar) there = std::min(there, layers_.ranged());
    const bool is_reading = there < form.layers && layers_.error().empty();
    const BiasLayer& chosen = layers_.layer(ui.selection.cell.layer);
    draw_bias_caption(ui, bias_words(ui),
                      is_reading ? fmt::format("Reading layer {} of {}", there + 1, form.layers)
                                 : bias_caption(ui, form, chosen, true),
                      chosen);
    if (is_reading) (void)progress_line(ui, "", double(there) / double(form.layers));
    if (!layers_.error().empty())
        banner(ui, {.title = "A bias could not be read", .sentence = layers_.error()});
    draw_maps(ui, form, plan, area);
    if (has_bar && layers_.has(0)) draw_shared_bar(ui);
    const auto read_out = [&](const Cell& cell) {
        return bias_read_out(ui, BiasForm(ui.status, cell.layer), reading_at(form, cell));
    };
    const auto values = read_out(ui.selection.shown());
    std::vector<ReadOut> locked;
    if (ui.selection.locked && ui.selection.hover) locked = read_out(ui.selection.cell);
    hover_line(ui, values, lock_words(ui, "Hover reads, click locks, P pins, M opens Focus"),
               locked);
}

// Of the map in which it lies; NaN while that is not there.
BiasReading AtlasPanel::reading_at(const BiasForm& form, const Cell& cell) const {
    BiasReading reading;
    reading.cell = cell;
    reading.value = reading.w = std::numeric_limits<double>::quiet_NaN();
    if (layers_.has(cell.layer)) {
        const auto& maps = layers_.layer(cell.layer).maps;
        const auto head = std::clamp<int64_t>(cell.head, 0, int64_t(maps.size()) - 1);
        reading =
            read_bias(layers_.form(cell.layer), maps[size_t(form.heads > 1 ? head : 0)], cell);
    }
    return reading;
}

void AtlasPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model()) return;
    const BiasForm form(ui.status, ui.selection.shown().layer);
    if (form.layout != BiasLayout::none && layers_.has(ui.selection.shown().layer))
        inspector_.draw(ui, form, layers_);
}

}  // namespace

PanelRoom bias_atlas_panel() {
    return {{"Atlas", "the position biases of all layers and heads at once"},
            "atlas",
            icon::grid,
            "Every map shows how much a target attends to a source. Choose the quantity and whose "
            "values set the range; hover for exact values, click to lock, M or a double click "
            "opens Focus. Order sorts the heads of each layer, or the layers where each has one "
            "map, by a number, or puts those beside each other that are alike.",
            {{Workspace::biases, Slot::canvas, 0},
             {Workspace::train, Slot::canvas, 2, "Biases##biases"}},
            make_panel<AtlasPanel>};
}

}  // namespace aft::app
