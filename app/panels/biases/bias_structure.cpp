// Structure: how far and in which direction every layer and head looks by its bias alone, how many
// singular values hold it, and how symmetric it is: numbers to sort by, each with the command that
// writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/panels/biases/bias_structure_columns.h"
#include "app/panels/biases/bias_tools.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/positions.h"
#include "app/panels/shared/tool_row.h"
#include "app/panels/shared/watch.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

PanelRoom bias_structure_panel();

namespace {

constexpr double kStructureHold = 5;      // seconds between two looks while training runs
constexpr int64_t kMostDenseRank = 1024;  // tokens of a w without factors

class StructurePanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    struct LayerWatches {
        Watch reach, rank, symmetry, window;
        AskTurn reach_turn, rank_turn, symmetry_turn, window_turn;
    };
    void update(const PaneContext& ui, const BiasForm& form);
    void draw_progress(PaneContext& ui, const BiasForm& form);
    void cancel(const PaneContext& ui);
    void add_heads(const LayerWatches& of, int64_t layer);
    [[nodiscard]] int64_t layers_there() const;  // that have rows
    void draw_tools(Ui& ui);
    // Whether it is wider than the pane.
    bool draw_table(PaneContext& ui, const BiasForm& form);
    std::vector<LayerWatches> layers_;
    std::optional<uint64_t> cancelled_;  // of this opening: what is here stays, no more is computed
    std::vector<HeadStructure> heads_;
    std::string error_;
    int pending_ = 0;
};

// The singular values of w [T, T] without factors take T^3.
bool has_quick_rank(const ViewState& ui) {
    const double T = double(ui.status.tokens);
    return ui.status.mixer.bias != BiasLayout::kernel_1d &&
           (ui.status.mixer.has_kernel() || ui.status.tokens <= kMostDenseRank ||
            ui.status.mixer.bias_values < T * T / 2);
}

void StructurePanel::update(const PaneContext& ui, const BiasForm& form) {
    if (cancelled_ == ui.opened) return;
    cancelled_.reset();
    layers_.resize(size_t(form.layers));
    heads_.clear();
    error_.clear();
    pending_ = 0;
    for (int64_t layer = 0; layer < form.layers; ++layer) {
        LayerWatches& of = layers_[size_t(layer)];
        ProbeRequest request;
        request.step = ui.selection.step;
        request.layer = layer;
        bool is_pending = false;
        const auto ask = [&](const char* probe, Watch& watch, AskTurn& turn) {
            request.probe = probe;
            (void)watch.update(ui, request, turn, kStructureHold);
            turn = {};
            is_pending |= watch.is_pending();
            if (!watch.error().empty()) error_ = watch.error();
        };
        const bool is_in_window = has_window(ui, layer);
        if (is_in_window) ask("window", of.window, of.window_turn);
        ask("reach", of.reach, of.reach_turn);
        if (has_quick_rank(ui)) ask("rank", of.rank, of.rank_turn);
        ask("symmetry", of.symmetry, of.symmetry_turn);
        pending_ += is_pending ? 1 : 0;
        const auto is_there = [](const Watch& watch) {
            return watch.fields() || !watch.error().empty();
        };
        const bool is_whole = (!is_in_window || is_there(of.window)) &&
                              (!has_quick_rank(ui) || is_there(of.rank)) && is_there(of.symmetry);
        if (of.reach.fields() && is_whole) add_heads(of, layer);
    }
}

int64_t StructurePanel::layers_there() const {
    int64_t count = 0, last = -1;
    for (const HeadStructure& one : heads_) {
        count += one.layer != last ? 1 : 0;
        last = one.layer;
    }
    return count;
}

void StructurePanel::add_heads(const LayerWatches& of, int64_t layer) {
    const Field& reach = of.reach.fields()->fields.front();
    const Field* const rank = of.rank.fields() ? &of.rank.fields()->fields.at(1) : nullptr;
    const auto first_of = [](const Watch& watch) {
        return watch.fields() ? &watch.fields()->fields.front() : nullptr;
    };
    const Field *const symmetry = first_of(of.symmetry), *const window = first_of(of.window);
    for (int64_t head = 0; head < reach.shape.at(0); ++head) {
        HeadStructure one{.layer = layer, .head = head};
        one.numbers.fill(NAN);
        const auto take = [&](size_t first, size_t count, const Field& from, size_t place) {
            for (size_t i = 0; i < count; ++i) one.numbers[first + i] = from.values.at(place + i);
        };
        const auto row = size_t(head);
        take(0, kOfReach, reach, row * kOfReach);
        if (rank != nullptr) take(kOfReach, kOfRank, *rank, row * 3 + 1);
        if (symmetry != nullptr) take(kFirstOfSymmetry, kOfSymmetry, *symmetry, row * kOfSymmetry);
        if (window != nullptr) take(kFirstOfWindow, kOfWindow, *window, row * kOfWindow);
        heads_.push_back(one);
    }
}

void StructurePanel::draw_tools(Ui& ui) {
    const bool has_heads = ui.status.mixer.heads > 1;
    std::vector<std::string> list = {has_heads ? "layer and head##position" : "layer##position"};
    const std::vector<size_t> shown = shown_columns(ui);
    for (const size_t i : shown)
        list.push_back(
            fmt::format("{}##{}", structure_columns()[i].sort, structure_columns()[i].id));
    const auto now = std::find(shown.begin(), shown.end(), size_t(ui.selection.structure_sort - 1));
    int chosen = now == shown.end() ? 0 : int(now - shown.begin()) + 1;
    inline_label(ui, "Sort by");
    if (combo(ui, "Sort by##sort_by", chosen,
              {.list = list, .width = 180, .tip = "The largest first."}))
        ui.selection.structure_sort = chosen == 0 ? 0 : int(shown[size_t(chosen) - 1]) + 1;
    const auto layer = size_t(ui.selection.cell.layer);
    if (ui.status.path.empty() || layer >= layers_.size()) return;
    ImGui::SameLine(0, ui.px(12));
    const LayerWatches& of = layers_[layer];
    const bool is_in_window = bool(of.window.fields());
    CopiedCommand copied = command_of(ui, is_in_window ? of.window : of.reach);
    copied.note = is_in_window
                      ? "Its columns are those of the window; the probes reach, rank and symmetry "
                        "write the others."
                      : "Its columns are those to Start; the probes rank and symmetry write the "
                        "others.";
    copy_command_button(ui, copied, "Copies the command that writes the selected layer's numbers.");
}

// Of the layer, the head where there are several, and the numbers of `shown`.
std::vector<Column> heads_of_table(const PaneContext& ui, const BiasForm& form,
                                   std::span<const size_t> shown) {
    std::vector<Column> out = {
        {.title = "Layer", .width = has_layer_names(ui.status) ? 180.0F : 60.0F}};
    if (form.heads > 1) out.push_back({.title = "Head", .width = 60});
    for (const size_t i : shown)
        out.push_back({.title = title_of(ui, structure_columns()[i]),
                       .right = true,
                       .sort_id = structure_columns()[i].id,
                       .tip = tip_of(ui, i),
                       .group = group_of(ui, i),
                       .shown = short_title(i)});
    return out;
}

std::string structure_words(size_t column, double value) {
    if (std::isnan(value)) return "\u2013";
    if (structure_columns()[column].is_share) return fmt::format("{:.1f}", 100 * value);
    const bool is_whole = column < 2 || column >= kOfReach;  // 2: a mean
    return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

bool is_chosen(const ViewState& ui, const BiasForm& form, const HeadStructure& one) {
    return one.layer == ui.selection.cell.layer &&
           (form.heads < 2 || one.head == std::max<int64_t>(0, ui.selection.cell.head));
}

TableRow row_of_table(const PaneContext& ui, const BiasForm& form, const HeadStructure& one,
                      std::span<const size_t> shown) {
    TableRow row{.name = fmt::format("L{0} h{1}##l{0}_h{1}", one.layer, one.head)};
    row.cells = {layer_words(ui.status, one.layer)};
    if (has_layer_names(ui.status)) row.full = full_layer_words(ui.status, one.layer);
    if (form.heads > 1) row.cells.push_back(std::to_string(one.head));
    row.values.assign(row.cells.size(), NAN);
    for (const size_t i : shown) {
        const double value = one.numbers[i];
        row.values.push_back(structure_columns()[i].is_share ? 100 * value : value);
        row.cells.push_back(structure_words(i, value));
    }
    row.selected = is_chosen(ui, form, one);
    return row;
}

std::vector<HeadStructure> sorted_by(std::vector<HeadStructure> heads, int sort) {
    if (sort < 1) return heads;
    const auto column = size_t(sort) - 1;
    std::stable_sort(heads.begin(), heads.end(), [&](const auto& a, const auto& b) {
        const double x = a.numbers[column], y = b.numbers[column];
        return std::isnan(y) ? !std::isnan(x) : x > y;
    });
    return heads;
}

// More columns than fit scroll sideways, with the bar right below the rows. Whether they do.
bool begin_rows(const PaneContext& ui, std::span<const Column> columns,
                std::span<const TableRow> rows) {
    const float wanted = least_table_width(ui, columns, rows);
    const bool is_wide = wanted > ImGui::GetContentRegionAvail().x;
    float height = std::max(ui.px(60), canvas_height(ui));
    if (is_wide) {
        ImGui::SetNextWindowContentSize({wanted, 0});
        const float bar = ImGui::GetStyle().ScrollbarSize;
        height = std::min(height, ui.px(54) + ui.px(26) * float(rows.size()) + bar);
    }
    (void)ImGui::BeginChild("rows", {0, height}, ImGuiChildFlags_NavFlattened,
                            is_wide ? ImGuiWindowFlags_HorizontalScrollbar : 0);
    return is_wide;
}

bool StructurePanel::draw_table(PaneContext& ui, const BiasForm& form) {
    int& sort = ui.selection.structure_sort;
    if (sort > int(kStructureNumbers)) sort = 0;  // a view file may name one that is not there
    const std::vector<size_t> shown = shown_columns(ui);
    const std::vector<Column> columns = heads_of_table(ui, form, shown);
    const size_t places = columns.size() - shown.size();  // of layer and head
    const auto now = std::find(shown.begin(), shown.end(), size_t(sort - 1));
    int by = now == shown.end() ? -1 : int(places) + int(now - shown.begin());
    const std::vector<HeadStructure> sorted = sorted_by(heads_, sort);
    std::vector<TableRow> rows;
    for (const HeadStructure& one : sorted) rows.push_back(row_of_table(ui, form, one, shown));
    const bool is_wide = begin_rows(ui, columns, rows);
    const int pressed = table(ui, "Layers and heads##heads", columns, SortedRows{rows, &by});
    ImGui::EndChild();
    sort = by < 0 ? 0 : int(shown[size_t(by) - places]) + 1;
    if (pressed < 0) return is_wide;
    const HeadStructure& one = sorted[size_t(pressed)];
    ui.selection.unlock();
    ui.selection.cell.layer = one.layer;
    if (form.heads > 1) ui.selection.cell.head = one.head;
    return is_wide;
}

void StructurePanel::draw_progress(PaneContext& ui, const BiasForm& form) {
    const int64_t there = layers_there();
    const bool is_whole = there == form.layers;  // read anew: no words, as the table would move
    const std::string words =
        is_whole ? "" : fmt::format("Reading layer {} of {}", there + 1, form.layers);
    if (!cancelled_ && pending_ > 0 &&
        progress_line(ui, words, is_whole ? -1 : double(there) / double(form.layers), true))
        cancel(ui);
    if (cancelled_ && cancelled_line(ui, fmt::format("{} of {} layers read.", there, form.layers)))
        cancelled_.reset();
}

// Nothing that was asked for is computed any more.
void StructurePanel::cancel(const PaneContext& ui) {
    cancelled_ = ui.opened;
    for (LayerWatches& of : layers_)
        for (Watch* const watch : {&of.window, &of.reach, &of.rank, &of.symmetry})
            drop_request(*watch, ui);
}

// The chosen row, with whole names.
void StructurePanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model()) return;
    const BiasForm form(ui.status);
    for (const HeadStructure& one : heads_) {
        if (!is_chosen(ui, form, one)) continue;
        section(ui, "Selection##selection", {}, false);
        key_value(ui, "Layer##layer", layer_words(ui.status, one.layer));
        if (form.heads > 1) key_value(ui, "Head##head", std::to_string(one.head));
        for (const size_t i : shown_columns(ui)) {
            const StructureColumn& column = structure_columns()[i];
            const std::string unit =
                column.is_share ? "%" : counted_unit(unit_words(ui, column), one.numbers[i] == 1);
            key_value(ui, {column.sort, column.id}, structure_words(i, one.numbers[i]), unit);
        }
    }
}

void StructurePanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    update(ui, form);
    draw_tools(ui);
    const std::string start = start_words(Positions(ui.status));
    caption(ui, "Structure of w by position alone",
            step_words(ui, layers_.empty() ? nullptr : layers_.front().reach.fields()));
    hint(ui,
         fmt::format("Of the bias alone (K = 0), the mean over all targets; a bias of 0 looks "
                     "everywhere alike. {}{} Rank: singular values that hold so much of the "
                     "energy{}.{}",
                     distance_words(ui), start.empty() ? "" : " Start: input 0 (" + start + ").",
                     has_quick_rank(ui) ? "" : "; not shown for this layout or size",
                     symmetry_words(ui)));
    if (!error_.empty()) banner(ui, {.title = "A bias could not be read", .sentence = error_});
    draw_progress(ui, form);
    const bool is_wide = draw_table(ui, form);
    const ReadOut values[] = {
        {form.heads > 1 ? "heads" : "layers", group_thousands(int64_t(heads_.size()))},
        {"designed window", window_words(ui, heads_)}};
    hover_line(ui, values,
               is_wide          ? "Shift + wheel: more columns"
               : form.heads > 1 ? "A row selects its layer and head"
                                : "A row selects its layer");
}

}  // namespace

PanelRoom bias_structure_panel() {
    return {
        .info = {"Structure",
                 "how far, in which direction, with what rank and symmetry every head looks"},
        .id = "structure",
        .icon = icon::functions,
        .help =
            "One row per layer and head: within which distance half and nine tenths of a "
            "target's share lie by the bias alone, its mean distance, the shares to the left, "
            "right, above and below, how many singular values hold w, and how symmetric it is. In "
            "a window the distances are of what it has learned, in its own unit. A head of the "
            "table sorts by it; a row selects its layer and head in all views. Where \"Edge\" is "
            "not far below \"Even\", the share of the window's cells there, the window may be too "
            "small; where it is, try Cut in the Lab for the price of a smaller one.",
        .places = {{Workspace::biases, Slot::canvas, 3}},
        .make = make_panel<StructurePanel>};
}

}  // namespace aft::app
