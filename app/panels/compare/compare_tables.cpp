#include "app/panels/compare/compare_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/bias_values.h"
#include "app/panels/shared/compare_command.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/shared/positions.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr const char* kNone = "\u2013";

std::string known(double value, int decimals) {
    return std::isfinite(value) ? plain_number(value, decimals) : kNone;
}

std::string known_signed(double value, int decimals) {
    return std::isfinite(value) ? signed_number(value, decimals) : kNone;
}

std::string known_stored(double value) {
    if (value == 0) return "0";
    return std::isfinite(value) ? stored_value(value) : kNone;
}

std::string shown_w(double value) {
    return value == 0 ? "0" : shown_value(Quantity::w, value);
}

std::string pair_of_heads(int64_t a, int64_t b) {
    return a == b ? std::to_string(a) : fmt::format("{} \u2192 {}", a, b);
}

Cell cell_of_change(const BiasForm& form, const HeadChange& change) {
    const int64_t head = form.heads > 1 ? change.head_a : -1;
    return form.cell(change.layer, head, change.row, change.column);
}

const ComparedSlot& second_slot(const PaneContext& ui, const CompareSlots& slots) {
    return slots.at(ui.selection.compare.other);
}

bool has_many_heads(const CompareSlots& slots) {
    return slots.at(0).form && matched_heads(*slots.at(0).form) > 1;
}

std::vector<std::string> place_cells(const ComparedSlot& slot, const Cell& cell) {
    const BiasForm form = slot.form_of(cell.layer);
    if (form.is_kernel()) return {tap_words(form, cell)};
    const Positions positions(*slot.status, cell.layer);
    return {positions.target_words(cell.target), positions.source_words(cell.source)};
}

Column layer_column(const CompareSlots& slots) {
    const Status* const named = slots.at(0).status;
    const bool has_names = named != nullptr && has_layer_names(*named);
    return {.title = "Layer", .width = has_names ? 180.0F : 64.0F};
}

// Of the first slot, and where layers are matched that of the second one: "0 \u2192 3".
std::string pair_of_layers(const CompareSlots& slots, const ComparedSlot& second, int64_t layer) {
    const int64_t of_second = second.layer_of(layer);
    const std::string words = layer_words(*slots.at(0).status, layer);
    return of_second == layer || of_second < 0 ? words
                                               : fmt::format("{} \u2192 {}", words, of_second);
}

std::vector<Column> change_columns(const CompareSlots& slots, const std::string& other,
                                   bool is_by_exp) {
    const BiasForm& form = *slots.at(0).form;
    std::vector<Column> columns = {layer_column(slots)};
    if (has_many_heads(slots)) columns.push_back({.title = "Head", .width = 84});
    if (form.is_kernel())
        columns.push_back({form.layout == BiasLayout::kernel_2d ? "dy, dx" : "Offset"});
    else
        for (const char* const title : {"Target t", "Source t\u2032"}) columns.push_back({title});
    for (const std::string& title : {"w " + slots.at(0).letter, "w " + other})
        columns.push_back({.title = title, .width = 104, .right = true});
    columns.push_back({.title = "Change", .width = 104, .right = true});
    columns.push_back(
        {.title = is_by_exp ? "Change of exp(w)" : "exp(change)", .width = 124, .right = true});
    return columns;
}

// Which norms the columns hold.
void norms_hint(PaneContext& ui, const CompareSlots& slots) {
    hint(ui, fmt::format("Norm: {} of w, {}", kFrobeniusNorm,
                         pairs_and_gauge(slots.at(0).form->is_kernel(),
                                         ui.selection.gauge == Gauge::fixed)));
}

}  // namespace

std::string numbers_words(const PaneContext& ui, const CompareSlots& slots,
                          const CompareNumbers& numbers) {
    const size_t other = ui.selection.compare.other;
    if (other >= slots.size()) return "";
    const bool has_failed = !slots.at(0).error.empty() || !slots.at(other).error.empty();
    if (!has_failed && (!slots.at(0).form || !slots.at(other).form)) return "Reading";
    if (std::string why = why_not_comparable(slots.at(0), slots.at(other)); !why.empty())
        return why;
    if (slots.at(other).is_matching) return "Matching layers";
    const int64_t done = numbers.done(other), all = numbers.layers(other);
    if (done < all) return fmt::format("Reading layer {} of {}", done + 1, all);
    for (int64_t i = 0; i < all; ++i)
        if (const LayerNumbers* const of = numbers.layer(other, i); of && !of->error.empty())
            return fmt::format("layer {}: {}", i, of->error);
    return "";
}

std::optional<Cell> changes_table(PaneContext& ui, const CompareSlots& slots,
                                  const CompareNumbers& numbers) {
    if (!slots.at(0).has_bias() || numbers.layers(ui.selection.compare.other) == 0) {
        hint(ui, numbers_words(ui, slots, numbers));
        return std::nullopt;
    }
    const ComparedSlot& first = slots.at(0);
    const bool is_by_exp = measure_of(ui.selection.quantity) == ChangeMeasure::exp;
    const std::vector<Column> columns =
        change_columns(slots, second_slot(ui, slots).letter, is_by_exp);
    std::vector<TableRow> rows;
    const std::vector<HeadChange>& largest = numbers.largest();
    for (size_t i = 0; i < largest.size(); ++i) {
        const HeadChange& change = largest[i];
        const Cell cell = cell_of_change(first.form_of(change.layer), change);
        TableRow row{.name = fmt::format("{0}##change_{0}", i), .cells = {}};
        row.cells.push_back(pair_of_layers(slots, second_slot(ui, slots), change.layer));
        if (has_layer_names(*first.status))
            row.full = full_layer_words(*first.status, change.layer);
        if (has_many_heads(slots)) row.cells.push_back(pair_of_heads(change.head_a, change.head_b));
        for (std::string& words : place_cells(first, cell)) row.cells.push_back(std::move(words));
        row.values.assign(row.cells.size(), NAN);
        const double of_exp = std::exp(change.b) - std::exp(change.a);
        const double last = is_by_exp ? of_exp : std::exp(change.change());
        row.values.insert(row.values.end(), {change.a, change.b, change.change(), last});
        for (const double w : {change.a, change.b, change.change()})
            row.cells.push_back(shown_w(w));
        row.cells.push_back(is_by_exp ? shown_w(of_exp) : "\u00D7" + known_stored(last));
        row.selected = ui.selection.cell == cell;
        rows.push_back(std::move(row));
    }
    if (rows.empty()) {
        const size_t other = ui.selection.compare.other;
        const LayerNumbers* const one = numbers.layer(other, 0);
        hint(ui, one != nullptr && one->block > 1
                     ? fmt::format("All heads of a layer are too many values to be compared cell "
                                   "by cell; Layers and Heads are of means over {0}\u00D7{0} "
                                   "cells. Point at a cell to compare it exactly.",
                                   one->block)
                 : numbers.done(other) == numbers.layers(other)
                     ? std::string("Nothing has changed.")
                     : numbers_words(ui, slots, numbers));
        return std::nullopt;
    }
    const int pressed = table(ui, "Changes##changes", columns, rows);
    if (pressed < 0) return std::nullopt;
    const HeadChange& chosen = largest[size_t(pressed)];
    return cell_of_change(first.form_of(chosen.layer), chosen);
}

std::optional<Cell> layers_table(PaneContext& ui, const CompareSlots& slots,
                                 const CompareNumbers& numbers) {
    const size_t other = ui.selection.compare.other;
    if (numbers.layers(other) == 0) {
        hint(ui, numbers_words(ui, slots, numbers));
        return std::nullopt;
    }
    const std::string &a = slots.at(0).letter, &b = second_slot(ui, slots).letter;
    std::vector<Column> columns = {layer_column(slots)};
    const ComparedSlot& second = second_slot(ui, slots);
    for (const std::string& title :
         {"Norm " + a, "Norm " + b, "Norm of " + b + " \u2212 " + a, std::string("Relative"),
          std::string("Correlation"), std::string("Match"), std::string("By gauge, %")})
        columns.push_back({.title = title, .right = true});
    std::vector<TableRow> rows;
    for (int64_t i = 0; i < numbers.layers(other); ++i) {
        const LayerNumbers* const of = numbers.layer(other, i);
        TableRow row{.name = fmt::format("L{0}##l{0}", i),
                     .cells = {pair_of_layers(slots, second, i)}};
        if (has_layer_names(*slots.at(0).status))
            row.full = full_layer_words(*slots.at(0).status, i);
        const bool is_there = of != nullptr && of->error.empty();
        const double match =
            is_there && std::isfinite(of->all.correlation) ? of->matching.mean_score() : NAN;
        if (is_there)
            row.values = {NAN,
                          of->all.norm_a,
                          of->all.norm_b,
                          of->all.norm_change,
                          of->all.relative(),
                          of->all.correlation,
                          match,
                          100 * of->removed_by_gauge};
        if (is_there)
            row.cells.insert(row.cells.end(),
                             {known_stored(of->all.norm_a), known_stored(of->all.norm_b),
                              known_stored(of->all.norm_change), known_stored(of->all.relative()),
                              known_signed(of->all.correlation, 3), known_signed(match, 3),
                              known(100 * of->removed_by_gauge, 1)});
        else
            row.cells.insert(row.cells.end(), 7, of == nullptr ? "" : kNone);
        row.selected = i == ui.selection.cell.layer;
        rows.push_back(std::move(row));
    }
    if (!rows.empty()) norms_hint(ui, slots);
    const int pressed = table(ui, "Layers##layers", columns, rows);
    if (pressed < 0) return std::nullopt;
    Cell cell = ui.selection.cell;
    cell.layer = pressed;
    return cell;
}

std::optional<Cell> heads_table(PaneContext& ui, const CompareSlots& slots,
                                const CompareNumbers& numbers) {
    const LayerNumbers* const of =
        numbers.layer(ui.selection.compare.other, ui.selection.cell.layer);
    if (of == nullptr || !of->error.empty()) {
        const std::string words = numbers_words(ui, slots, numbers);
        hint(ui, of != nullptr ? of->error : words.empty() ? "Reading" : words);
        return std::nullopt;
    }
    const std::string &a = slots.at(0).letter, &b = second_slot(ui, slots).letter;
    std::vector<Column> columns = {{.title = "Head " + a, .width = 84},
                                   {.title = "Head " + b, .width = 84}};
    for (const std::string& title : {std::string("Score"), "Norm " + a, "Norm " + b,
                                     "Norm of " + b + " \u2212 " + a, std::string("Relative")})
        columns.push_back({.title = title, .right = true});
    std::vector<TableRow> rows;
    for (size_t i = 0; i < of->matching.pairs.size(); ++i) {
        const HeadMatch& pair = of->matching.pairs[i];
        const MapDistance& distance = of->heads[i];
        // A flat map has no correlation: the 0 that the matching counts with is no score.
        const double score = std::isfinite(distance.correlation) ? pair.score : NAN;
        rows.push_back(
            {.name = fmt::format("h{0}##h{0}", pair.a),
             .cells = {std::to_string(pair.a), std::to_string(pair.b), known_signed(score, 3),
                       known_stored(distance.norm_a), known_stored(distance.norm_b),
                       known_stored(distance.norm_change), known_stored(distance.relative())},
             .selected = pair.a == std::max<int64_t>(0, ui.selection.cell.head),
             .values = {NAN, NAN, score, distance.norm_a, distance.norm_b, distance.norm_change,
                        distance.relative()}});
    }
    norms_hint(ui, slots);
    const int pressed = table(ui, "Heads##heads", columns, rows);
    if (pressed < 0) return std::nullopt;
    Cell cell = ui.selection.cell;
    cell.head = of->matching.pairs[size_t(pressed)].a;
    return cell;
}

void settings_table(PaneContext& ui, const CompareSlots& slots) {
    std::vector<const Config*> configs;
    std::vector<Column> columns = {{.title = "Setting", .width = 260}};
    for (const ComparedSlot& slot : slots.all()) {
        if (slot.status == nullptr) continue;
        configs.push_back(&slot.status->config);
        columns.push_back({.title = slot.letter + "  " + slot.name});
    }
    std::vector<TableRow> rows;
    for (const DifferingSetting& setting : differing_settings(configs)) {
        TableRow row{.name = WidgetName::data(setting.key), .cells = {setting.key}};
        row.cells.insert(row.cells.end(), setting.values.begin(), setting.values.end());
        rows.push_back(std::move(row));
    }
    if (rows.empty()) {
        hint(ui, "Their settings are the same.");
        return;
    }
    (void)table(ui, "Settings##settings", columns, rows);
}

}  // namespace aft::app
