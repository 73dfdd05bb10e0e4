// What Compare works out of the position biases of two slots: the maps that are drawn, and the
// numbers of a layer: distances, matched heads, largest changes. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/panels/shared/bias_map.h"
#include "app/state/compare_choice.h"
#include "core/compare/layer_compare.h"

namespace aft::app {

// w of one map of a slot, [rows, columns]; empty where the answer has another shape. head: in an
// answer with all heads.
[[nodiscard]] std::vector<float> map_of_slot(const FieldSet& fields, const BiasForm& form,
                                             int64_t head);
// Heads of one layer as one list of maps; empty where the answer has another shape.
[[nodiscard]] HeadMaps heads_of(const FieldSet& fields, const BiasForm& form);
// Row i of the result is row order[i]; NaN where that is -1.
[[nodiscard]] std::vector<float> reordered_rows(std::span<const float> map, int64_t columns,
                                                std::span<const int64_t> order);
// The quantity of every w.
[[nodiscard]] std::vector<float> in_quantity(std::span<const float> w, int64_t columns,
                                             Quantity quantity);

enum class PairQuantity { difference, ratio };
// difference: quantity of b minus that of a. ratio: exp(w_b) / exp(w_a) - 1, whatever the quantity.
struct MapPair {
    std::span<const float> a, b;  // w
    int64_t columns = 1;
};
[[nodiscard]] std::vector<float> pair_values(const MapPair& pair, PairQuantity kind,
                                             Quantity quantity);
// The values as a map that is drawn, in blocks.
[[nodiscard]] BiasMap drawn_map(std::vector<float> values, const BiasForm& form, Blocks block);
// Where the right map begins: the share of the columns, to whole ones.
[[nodiscard]] int64_t split_column(double share, int64_t columns);
// Columns from `first` on are those of the right map.
[[nodiscard]] BiasMap split_map(const BiasMap& left, const BiasMap& right, int64_t first);
// Of the drawn values that can be seen.
[[nodiscard]] std::vector<float> seen_in(const BiasMap& map);

struct HeadChange {
    int64_t layer = 0, head_a = 0, head_b = 0;
    int64_t row = 0, column = 0;  // of a's map
    double a = 0, b = 0;          // w
    [[nodiscard]] double change() const { return b - a; }
};

struct LayerNumbers : LayerComparison {  // in the gauge that is asked for
    int64_t layer = 0;
    std::vector<HeadChange> largest;
    int64_t block = 1;  // > 1: of means over blocks of so many cells a side, without `largest`
    int64_t step_a = -1, step_b = -1;
    // Share of the raw change (its square) that the gauge removes; NaN = not known.
    double removed_by_gauge = std::numeric_limits<double>::quiet_NaN();
    std::string error;
};

struct LayerInput {
    const FieldSet& a;  // of layer_request, in blocks
    const FieldSet& b;
    const BiasForm& form_a;
    const BiasForm& form_b;
    int64_t layer = 0, block = 1;
    bool matches = true;  // by similarity, else by order
    ChangeMeasure changes_by = ChangeMeasure::w;
};
[[nodiscard]] LayerNumbers compare_layer(const LayerInput& in, size_t most_changes);

}  // namespace aft::app
