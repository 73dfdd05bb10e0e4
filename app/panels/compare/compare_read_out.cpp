#include "app/panels/compare/compare_read_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "app/panels/compare/compare_values.h"
#include "app/panels/shared/bias_values.h"
#include "app/panels/shared/positions.h"
#include "core/text.h"
#include "viz/map.h"

namespace aft::app {

namespace {

std::optional<viz::MapCell> slot_place(const SlotMap& map, const Cell& cell) {
    viz::MapCell at;
    if (map.version == 0 || !map.form || !map.form->place(cell, at.row, at.column))
        return std::nullopt;
    return at;
}

bool is_cell_hidden(const SlotMap& map, const Cell& cell) {
    const auto at = slot_place(map, cell);
    return at && map.form->is_hidden(at->row, at->column, {});
}

// The cell's indices. False: it has no place in this form.
bool add_indices(const PaneContext& ui, const ComparedSlot& first, int64_t layer,
                 std::vector<ReadOut>& out) {
    const BiasForm& form = *first.form;
    const Cell& cell = ui.selection.shown();
    if (form.heads > 1 || form.is_kernel())
        out.push_back({"head", std::to_string(std::max<int64_t>(0, cell.head))});
    int64_t row = -1, column = -1;
    if (!form.place(cell, row, column)) return false;
    if (form.is_kernel()) {
        out.push_back(
            {form.layout == BiasLayout::kernel_2d ? "dy, dx" : "offset", tap_words(form, cell)});
    } else {
        const Positions positions(*first.status, layer);
        out.push_back({"t", positions.target_words(cell.target)});
        out.push_back({"t\u2032", positions.source_words(cell.source)});
    }
    return true;
}

}  // namespace

double slot_cell_value(const SlotMap& map, const Cell& cell, Quantity quantity) {
    const auto at = slot_place(map, cell);
    if (!at || !map.w) return NAN;
    const BiasForm& form = *map.form;
    if (int64_t(map.w->size()) != form.rows * form.columns) return NAN;
    const std::span<const float> of_row =
        std::span(*map.w).subspan(size_t(at->row * form.columns), size_t(form.columns));
    return in_quantity(of_row, form.columns, quantity)[size_t(at->column)];
}

bool is_cell_masked(const SlotMap& map, const Cell& cell) {
    const auto at = slot_place(map, cell);
    return at &&
           is_masked(*map.form, {at->row, at->column, {}, slot_cell_value(map, cell, Quantity::w)});
}

std::vector<ReadOut> compare_read_out(const PaneContext& ui, const CompareSlots& slots,
                                      const ShownMaps& shown) {
    const Cell& cell = ui.selection.shown();
    std::vector<ReadOut> out = {{"layer", std::to_string(shown.layer())}};
    const ComparedSlot& first = slots.at(0);
    if (!first.has_bias() || !add_indices(ui, first, shown.layer(), out)) return out;
    const Quantity quantity = ui.selection.quantity;
    const auto value_of = [&](size_t slot, Quantity in) {
        const SlotMap& map = shown.at(slot);
        return is_cell_hidden(map, cell) ? NAN : slot_cell_value(map, cell, in);
    };
    for (size_t i = 0; i < slots.size(); ++i) {
        const std::string& letter = slots.at(i).letter;
        const double value = value_of(i, quantity);
        if (is_cell_masked(shown.at(i), cell))
            out.push_back({letter, kMaskedWords});
        else if (is_cell_hidden(shown.at(i), cell))
            out.push_back({letter, "not visible"});
        else if (!std::isnan(value))
            out.push_back({letter, shown_value(quantity, value), exact_number(float(value))});
    }
    const size_t other = ui.selection.compare.other;
    if (other >= slots.size()) return out;
    const double a = value_of(0, quantity), b = value_of(other, quantity);
    if (std::isnan(a) || std::isnan(b)) return out;
    const std::string name = slots.at(other).letter + " \u2212 " + first.letter;
    out.push_back({name, signed_number(b - a, 4), exact_number(b - a)});
    const double ratio = std::exp(value_of(other, Quantity::w) - value_of(0, Quantity::w));
    out.push_back({fmt::format("exp(w), {}/{}", slots.at(other).letter, first.letter),
                   stored_value(ratio), exact_number(ratio)});
    return out;
}

}  // namespace aft::app
