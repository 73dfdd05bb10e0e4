// Job: two models, or two steps of one, set against each other by their position biases: which head
// and which layer is which, how far the layers are from each other, what has changed most, which
// settings differ; and the maps themselves, to a file. Plain types. No LibTorch. Blocks until done;
// any thread.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/compare/layer_compare.h"
#include "core/progress.h"
#include "model/config.h"
#include "model/status.h"

namespace aft {

struct ComparedModel {
    std::string model, recipe{};  // recipe: file of interventions on its biases; "" = none
    int64_t step = -1;            // a stored one; -1 = the newest
};
struct CompareJob {
    ComparedModel a, b;
    std::string gauge = "fixed";  // raw, fixed
    bool matches = true;          // heads by similarity, else in their order
    bool matches_layers = false;  // layers too
    int64_t blocks = 1;           // > 1: of the means over so many cells a side
    int64_t changes = 10;         // so many of the largest are listed
    ChangeMeasure changes_by = ChangeMeasure::w;
    // The maps of a layer and a head of a, and what belongs to it in b: .npy or .csv; "" = none.
    std::string out, view = "difference", quantity = "w";
    int64_t layer = 0, head = 0;  // of a
    int64_t head_b = -1;          // in place of the one that it is matched with
};

struct ComparedLayer : LayerComparison {
    int64_t layer = 0, layer_b = 0;
    // Share of the raw change (its square) that is mere gauge; NaN where there is no gauge.
    double by_gauge = std::numeric_limits<double>::quiet_NaN();
};
struct ComparedCell {
    int64_t layer = 0, layer_b = 0, head_a = 0, head_b = 0;
    int64_t row = 0, column = 0;  // target and source, or the place in a kernel
    double a = 0, b = 0;          // w
};
struct DifferingSetting {
    std::string key;
    std::vector<std::string> values;  // of each config
};
struct CompareResult {
    ComparedModel a, b;  // their steps are known
    std::string gauge;
    std::vector<ComparedLayer> layers;  // that both have, in a's order
    std::vector<ComparedCell> changes;  // the largest first; none of blocks
    std::vector<DifferingSetting> settings;
    // Of layers that were matched: which is which, with its score, and the sum of the scores that
    // they have in their order. Empty = they were not.
    std::vector<HeadMatch> layer_pairs;
    double sum_in_order = 0;
    std::string row_axis = "target", column_axis = "source";  // of changes
    std::string file;                                         // of the maps; "" = none
    std::vector<int64_t> shape;
};
// Usage Error where the two cannot be compared cell by cell: what each of them has.
[[nodiscard]] CompareResult compare_job(const CompareJob& job, const JobControl& control);

// Cells a side of the blocks by whose means layers are matched; 1: of single cells.
[[nodiscard]] int64_t block_of_matching(const Status& a, const Status& b);

[[nodiscard]] std::vector<std::string> compare_views();  // both, difference, ratio

// Rows of the settings that are not the same in all; those that none of them reads are left out.
[[nodiscard]] std::vector<DifferingSetting> differing_settings(
    const std::vector<const Config*>& configs);

}  // namespace aft
