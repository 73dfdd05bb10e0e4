#include "app/panels/compare/compare_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/compare/compare_slots.h"

namespace aft::app {

namespace {

// The field with the values: w itself, or the means of its blocks.
const Field* main_field_of(const FieldSet& fields) {
    if (fields.fields.empty()) return nullptr;
    const Field* const mean = fields.find("mean");
    return mean != nullptr ? mean : fields.fields.data();
}

// Of a cell of head `head`: where it stands in a map as it is drawn.
HeadChange change_at(const LayerInput& in, const HeadMatch& pair, const CellChange& cell) {
    HeadChange out{.layer = in.layer, .head_a = pair.a, .head_b = pair.b};
    const int64_t columns = std::max<int64_t>(1, in.form_a.columns);
    out.row = in.form_a.layout == BiasLayout::kernel_1d ? pair.a : cell.cell / columns;
    out.column = cell.cell % columns;
    out.a = cell.a;
    out.b = cell.b;
    return out;
}

struct HeadsOfBoth {
    HeadMaps a, b;
};

void add_largest(LayerNumbers& numbers, const LayerInput& in, const HeadsOfBoth& of, size_t most) {
    for (const HeadMatch& pair : numbers.matching.pairs)
        for (const CellChange& cell :
             largest_changes(of.a.head(pair.a), of.b.head(pair.b), most, in.changes_by))
            numbers.largest.push_back(change_at(in, pair, cell));
    std::stable_sort(numbers.largest.begin(), numbers.largest.end(),
                     [by = in.changes_by](const HeadChange& x, const HeadChange& y) {
                         return change_size(x.a, x.b, by) > change_size(y.a, y.b, by);
                     });
    if (numbers.largest.size() > most) numbers.largest.resize(most);
}

int64_t step_of_fields(const FieldSet& fields) {
    return fields.fields.empty() ? -1 : fields.fields.front().step;
}

}  // namespace

HeadMaps heads_of(const FieldSet& fields, const BiasForm& form) {
    const Field* const field = main_field_of(fields);
    const int64_t heads = matched_heads(form);
    if (field == nullptr || heads <= 0 || field->values.size() % size_t(heads) != 0) return {};
    return {.values = field->values, .heads = heads};
}

std::vector<float> map_of_slot(const FieldSet& fields, const BiasForm& form, int64_t head) {
    if (fields.fields.empty()) return {};
    const std::vector<float>& values = fields.fields.front().values;
    const auto size = size_t(form.rows * form.columns);
    if (size == 0 || values.empty() || values.size() % size != 0) return {};
    const size_t maps = values.size() / size;
    const size_t index = maps == 1 ? 0 : size_t(std::max<int64_t>(0, head));
    if (index >= maps) return {};
    const auto first = values.begin() + std::ptrdiff_t(index * size);
    return {first, first + std::ptrdiff_t(size)};
}

std::vector<float> reordered_rows(std::span<const float> map, int64_t columns,
                                  std::span<const int64_t> order) {
    std::vector<float> out(order.size() * size_t(columns), std::numeric_limits<float>::quiet_NaN());
    for (size_t row = 0; row < order.size(); ++row) {
        if (order[row] < 0 || (order[row] + 1) * columns > int64_t(map.size())) continue;
        const auto from = map.subspan(size_t(order[row] * columns), size_t(columns));
        std::copy(from.begin(), from.end(), out.begin() + std::ptrdiff_t(row * size_t(columns)));
    }
    return out;
}

std::vector<float> in_quantity(std::span<const float> w, int64_t columns, Quantity quantity) {
    if (quantity == Quantity::row_share) return row_shares(w, columns);
    std::vector<float> out(w.begin(), w.end());
    if (quantity == Quantity::exp_minus_one)
        for (float& v : out) v = std::expm1(v);
    if (quantity == Quantity::exp)
        for (float& v : out) v = std::exp(v);
    return out;
}

std::vector<float> pair_values(const MapPair& pair, PairQuantity kind, Quantity quantity) {
    if (pair.a.size() != pair.b.size()) return {};
    std::vector<float> out(pair.a.size());
    if (kind == PairQuantity::ratio) {
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = float(std::expm1(double(pair.b[i]) - double(pair.a[i])));
        return out;
    }
    const std::vector<float> a = in_quantity(pair.a, pair.columns, quantity);
    const std::vector<float> b = in_quantity(pair.b, pair.columns, quantity);
    for (size_t i = 0; i < out.size(); ++i) out[i] = b[i] - a[i];
    return out;
}

BiasMap drawn_map(std::vector<float> values, const BiasForm& form, Blocks block) {
    BiasForm one = form;
    one.heads = 1;
    FieldSet set;
    set.fields.emplace_back();
    set.fields.front().name = "values";
    set.fields.front().values = std::move(values);
    return map_of_fields({set}, one, 0, block);
}

int64_t split_column(double share, int64_t columns) {
    return std::llround(share * double(columns));
}

BiasMap split_map(const BiasMap& left, const BiasMap& right, int64_t first) {
    BiasMap out = left;
    if (left.rows != right.rows || left.columns != right.columns) return out;
    const auto take_right = [&](auto& values, const auto& from) {
        if (values.empty() && from.empty()) return;
        values.resize(out.shown.size());
        for (int64_t row = 0; row < out.rows; ++row)
            for (int64_t column = std::max<int64_t>(0, first); column < out.columns; ++column) {
                const auto i = size_t(row * out.columns + column);
                values[i] = from.empty() ? 0 : from[i];
            }
    };
    take_right(out.shown, right.shown);
    take_right(out.hidden, right.hidden);
    take_right(out.masked, right.masked);
    take_right(out.partly, right.partly);
    out.has_masks |= right.has_masks;
    return out;
}

std::vector<float> seen_in(const BiasMap& map) {
    std::vector<float> out;
    out.reserve(map.shown.size());
    for (size_t i = 0; i < map.shown.size(); ++i)
        if (map.hidden.empty() || map.hidden[i] == 0) out.push_back(map.shown[i]);
    return out;
}

LayerNumbers compare_layer(const LayerInput& in, size_t most_changes) {
    LayerNumbers out;
    out.layer = in.layer;
    out.block = in.block;
    out.step_a = step_of_fields(in.a);
    out.step_b = step_of_fields(in.b);
    const HeadMaps a = heads_of(in.a, in.form_a), b = heads_of(in.b, in.form_b);
    if (a.values.empty() || b.values.empty() || a.cells() != b.cells()) {
        out.error = "The answers of the two slots have different shapes.";
        return out;
    }
    static_cast<LayerComparison&>(out) = compare_heads(a, b, in.matches);
    if (in.block == 1) add_largest(out, in, {a, b}, most_changes);
    return out;
}

}  // namespace aft::app
