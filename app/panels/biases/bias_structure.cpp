// Structure: how far and in which direction every layer and head looks by its bias alone, how many
// singular values hold it, and how symmetric it is: numbers to sort by, each with the command that
// writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Columns of the probe "reach", then two of "rank", then those of "symmetry".
struct StructureColumn {
    const char *title, *sort, *id;
    bool is_share = false, on_grid = false, at_start = false;
};
constexpr StructureColumn kStructure[] = {
    {"50 %", "Within 50 %", "within_50"},
    {"90 %", "Within 90 %", "within_90"},
    {"Distance", "Mean distance", "mean_distance"},
    {"Left, %", "Looks left", "left", true},
    {"Right, %", "Looks right", "right", true},
    {"Above, %", "Looks up", "above", true, true},
    {"Below, %", "Looks down", "below", true, true},
    {"Start, %", "Looks at the start", "start", true, false, true},
    {"Rank 90 %", "Rank, 90 %", "rank_90"},
    {"Rank 99 %", "Rank, 99 %", "rank_99"},
    {"Exchange, %", "Symmetric in target and source", "exchange", true},
    {"Mirror x, %", "Symmetric left and right", "left_right", true},
    {"Mirror y, %", "Symmetric up and down", "up_down", true}};
constexpr size_t kStructureNumbers = std::size(kStructure), kOfReach = 8, kOfRank = 2;
constexpr size_t kFirstOfSymmetry = kOfReach + kOfRank;

struct HeadStructure {
    int64_t layer = 0, head = 0;
    std::array<double, kStructureNumbers> numbers{};
};

class StructurePanel final : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    struct LayerWatches {
        Watch reach, rank, symmetry;
        AskTurn reach_turn, rank_turn, symmetry_turn;
    };
    void update(const PaneContext& ui, const BiasForm& form);
    void draw_tools(Ui& ui);
    void draw_table(PaneContext& ui, const BiasForm& form);
    [[nodiscard]] bool shows(const ViewState& ui, size_t column) const;
    [[nodiscard]] std::string symmetry_words(const ViewState& ui) const;
    std::vector<LayerWatches> layers_;
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

// Texts are a line, and so is a mixer alone without a grid of more than one row.
bool is_on_grid(const ViewState& ui) {
    if (!ui.status.task.is_mixer_alone) return !ui.status.task.is_text();
    if (!ui.status.task.is_bias_alone) return ui.status.grid_height > 1;
    const std::vector<MapLayer>& layers = ui.status.config.model.maps.layers;
    return std::any_of(layers.begin(), layers.end(),
                       [](const MapLayer& layer) { return layer.height > 1; });
}

bool StructurePanel::shows(const ViewState& ui, size_t index) const {
    const StructureColumn& column = kStructure[index];
    if (index >= kFirstOfSymmetry)  // a symmetry that is defined for some head
        return std::any_of(heads_.begin(), heads_.end(), [&](const HeadStructure& one) {
            return !std::isnan(one.numbers[index]);
        });
    if (column.at_start) return *start_words(Positions(ui.status)) != '\0';
    return !column.on_grid || is_on_grid(ui);
}

// What the columns of symmetry are, and which of them this model has not.
std::string StructurePanel::symmetry_words(const ViewState& ui) const {
    if (heads_.empty() || pending_ > 0) return "";
    std::string words =
        " Exchange, mirrors: the share (1 + <w, m> / <w, w>) / 2 of w that stays when target and "
        "source change places, or a target's row is mirrored left-right (x), up-down (y), which "
        "makes m of w; 100 % symmetric, 50 % neither, 0 % antisymmetric.";
    std::string missing;
    for (size_t i = kFirstOfSymmetry; i < kStructureNumbers; ++i)
        if (!shows(ui, i)) missing += (missing.empty() ? "" : ", ") + std::string(kStructure[i].id);
    std::replace(missing.begin(), missing.end(), '_', '-');
    if (missing.empty()) return words;
    return words + " Not defined" + (ui.status.task.is_autoregressive ? " (causal)" : "") + ": " +
           missing + ".";
}

void StructurePanel::update(const PaneContext& ui, const BiasForm& form) {
    layers_.resize(size_t(form.layers));
    heads_.clear();
    error_.clear();
    pending_ = 0;
    for (int64_t layer = 0; layer < form.layers; ++layer) {
        LayerWatches& of = layers_[size_t(layer)];
        ProbeRequest request;
        request.step = ui.selection.step;
        request.layer = layer;
        const auto ask = [&](const char* probe, Watch& watch, AskTurn& turn) {
            request.probe = probe;
            (void)watch.update(ui, request, turn, kStructureHold);
            turn = {};
            pending_ += watch.is_pending() ? 1 : 0;
            if (!watch.error().empty()) error_ = watch.error();
        };
        ask("reach", of.reach, of.reach_turn);
        if (has_quick_rank(ui)) ask("rank", of.rank, of.rank_turn);
        ask("symmetry", of.symmetry, of.symmetry_turn);
        if (!of.reach.fields()) continue;
        const Field& reach = of.reach.fields()->fields.front();
        const Field* const rank = of.rank.fields() ? &of.rank.fields()->fields.at(1) : nullptr;
        const FieldSetPtr& mirrored = of.symmetry.fields();
        const Field* const symmetry = mirrored ? &mirrored->fields.front() : nullptr;
        for (int64_t head = 0; head < reach.shape.at(0); ++head) {
            HeadStructure one{.layer = layer, .head = head};
            one.numbers.fill(NAN);
            for (size_t i = 0; i < kOfReach; ++i)
                one.numbers[i] = reach.values.at(size_t(head) * kOfReach + i);
            for (size_t i = 0; rank != nullptr && i < kOfRank; ++i)
                one.numbers[kOfReach + i] = rank->values.at(size_t(head) * 3 + 1 + i);
            for (size_t i = 0; symmetry != nullptr && i < 3; ++i)
                one.numbers[kFirstOfSymmetry + i] = symmetry->values.at(size_t(head) * 3 + i);
            heads_.push_back(one);
        }
    }
}

void StructurePanel::draw_tools(Ui& ui) {
    std::vector<std::string> list = {"layer and head##position"};
    std::vector<size_t> columns;
    for (size_t i = 0; i < kStructureNumbers; ++i) {
        if (!shows(ui, i)) continue;
        list.push_back(fmt::format("{}##{}", kStructure[i].sort, kStructure[i].id));
        columns.push_back(i);
    }
    const auto now =
        std::find(columns.begin(), columns.end(), size_t(ui.selection.structure_sort - 1));
    int chosen = now == columns.end() ? 0 : int(now - columns.begin()) + 1;
    inline_label(ui, "Sort by");
    if (combo(ui, "Sort by##sort_by", chosen,
              {.list = list, .width = 180, .tip = "The largest first."}))
        ui.selection.structure_sort = chosen == 0 ? 0 : int(columns[size_t(chosen) - 1]) + 1;
    const auto layer = size_t(ui.selection.cell.layer);
    if (ui.status.path.empty() || layer >= layers_.size()) return;
    ImGui::SameLine(0, ui.px(12));
    CopiedCommand copied = command_of(ui, layers_[layer].reach);
    copied.note = "Its columns are those to Start; the probes rank and symmetry write the others.";
    copy_command_button(ui, copied, "Copies the command that writes the selected layer's numbers.");
}

void StructurePanel::draw_table(PaneContext& ui, const BiasForm& form) {
    const bool has_names = has_layer_names(ui.status);
    std::vector<Column> columns = {{.title = "Layer", .width = has_names ? 180.0F : 60.0F}};
    if (form.heads > 1) columns.push_back({.title = "Head", .width = 60});
    // A view file may name a column that is not there.
    if (ui.selection.structure_sort > int(kStructureNumbers)) ui.selection.structure_sort = 0;
    int sorted_by = -1;
    std::vector<int> numbers(columns.size(), 0);  // of each column: how it is chosen
    for (size_t i = 0; i < kStructureNumbers; ++i) {
        if (!shows(ui, i)) continue;
        if (ui.selection.structure_sort == int(i) + 1) sorted_by = int(columns.size());
        columns.push_back(
            {.title = kStructure[i].title, .right = true, .sort_id = kStructure[i].id});
        numbers.push_back(int(i) + 1);
    }
    std::vector<HeadStructure> sorted = heads_;
    if (ui.selection.structure_sort > 0)
        std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
            const double x = a.numbers[size_t(ui.selection.structure_sort - 1)],
                         y = b.numbers[size_t(ui.selection.structure_sort - 1)];
            return std::isnan(y) ? !std::isnan(x) : x > y;
        });
    std::vector<TableRow> rows;
    for (const HeadStructure& one : sorted) {
        TableRow row{.name = fmt::format("L{0} h{1}##l{0}_h{1}", one.layer, one.head)};
        row.cells = {layer_words(ui.status, one.layer)};
        if (has_names) row.full = full_layer_words(ui.status, one.layer);
        if (form.heads > 1) row.cells.push_back(std::to_string(one.head));
        row.values.assign(row.cells.size(), NAN);
        for (size_t i = 0; i < kStructureNumbers; ++i) {
            if (!shows(ui, i)) continue;
            const double value = one.numbers[i];
            row.values.push_back(kStructure[i].is_share ? 100 * value : value);
            const bool is_whole = i < 2 || i >= kOfReach;
            row.cells.push_back(std::isnan(value)        ? "\u2013"
                                : kStructure[i].is_share ? fmt::format("{:.1f}", 100 * value)
                                : is_whole               ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.2f}", value));
        }
        row.selected = one.layer == ui.selection.cell.layer &&
                       (form.heads < 2 || one.head == std::max<int64_t>(0, ui.selection.cell.head));
        rows.push_back(std::move(row));
    }
    const int pressed = table(ui, "Layers and heads##heads", columns, SortedRows{rows, &sorted_by});
    ui.selection.structure_sort = sorted_by < 0 ? 0 : numbers[size_t(sorted_by)];
    if (pressed < 0) return;
    const HeadStructure& one = sorted[size_t(pressed)];
    ui.selection.unlock();
    ui.selection.cell.layer = one.layer;
    if (form.heads > 1) ui.selection.cell.head = one.head;
}

void StructurePanel::draw(Ui& ui) {
    const BiasForm form(ui.status);
    if (bias_state(ui, form)) return;
    update(ui, form);
    draw_tools(ui);
    const bool is_flat = !is_on_grid(ui);
    const char* const unit = is_flat                                       ? "tokens"
                             : ui.status.task.tokens == TokenKind::patches ? "patches"
                                                                           : "pixels";
    const std::string start = start_words(Positions(ui.status));
    caption(ui, "Structure of w by position alone",
            step_words(ui, layers_.empty() ? nullptr : layers_.front().reach.fields()));
    hint(ui,
         fmt::format("Shares of the bias alone (K = 0), the mean over all targets; a bias of 0 "
                     "looks everywhere alike. 50 % and 90 %: the distance within which that share "
                     "lies; Distance: its mean; in {}.{} Rank: singular values that hold so much "
                     "of the energy{}.{}",
                     unit, start.empty() ? "" : " Start: input 0 (" + start + ").",
                     has_quick_rank(ui) ? "" : "; not shown for this layout or size",
                     symmetry_words(ui)));
    if (!error_.empty()) banner(ui, {.title = "A bias could not be read", .sentence = error_});
    if (pending_ > 0)
        (void)progress_line(
            ui, fmt::format("Reading {} of {}", form.layers - pending_ / 3, form.layers), -1);
    if (ImGui::BeginChild("rows", {0, std::max(ui.px(60), canvas_height(ui))},
                          ImGuiChildFlags_NavFlattened))
        draw_table(ui, form);
    ImGui::EndChild();
    const ReadOut values[] = {
        {form.heads > 1 ? "heads" : "layers", std::to_string(heads_.size())},
        {"designed window", ui.status.mixer.window > 0 ? std::to_string(ui.status.mixer.window)
                                                       : std::string("none")}};
    hover_line(ui, values, "A row selects its layer and head");
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
            "target's share lie by the bias alone, its mean distance, the shares to the "
            "left, right, above and below, how many singular values hold w, and how symmetric it "
            "is. A head of the "
            "table sorts by it; a row selects its layer and head in all views. Where \"within 90 "
            "%\" "
            "meets the window, the window may be too small: try Cut in the Lab.",
        .places = {{Workspace::biases, Slot::canvas, 3}},
        .make = make_panel<StructurePanel>};
}

}  // namespace aft::app
