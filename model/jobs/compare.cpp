#include "model/jobs/compare.h"

#include <algorithm>
#include <cmath>

#include "core/compare/layer_matching.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/writers.h"
#include "model/checkpoints/checkpoint.h"
#include "model/jobs/recipe.h"
#include "model/jobs/stored_biases.h"

namespace aft {
namespace {

struct OpenedSide {
    ComparedModel asked;
    StoredModel model;
    Recipe recipe;
    [[nodiscard]] const MixerTraits& mixer() const { return model.status.mixer; }
    [[nodiscard]] bool is_causal() const { return model.status.config.model.causal(); }
};

// Before anything is read.
void check_step(const OpenedSide& side) {
    constexpr size_t kMostListed = 8;
    const std::vector<int64_t>& steps = side.model.steps;
    if (std::binary_search(steps.begin(), steps.end(), side.asked.step)) return;
    const std::string stored =
        steps.size() <= kMostListed
            ? fmt::format("{}", fmt::join(steps, ", "))
            : fmt::format("{} steps from {} to {}", steps.size(), steps.front(), steps.back());
    fail_usage("{}: step {} is not stored there; stored: {}", shown(side.asked.model),
               side.asked.step, stored);
}

OpenedSide open_side(const ComparedModel& asked) {
    static_cast<void>(resolve_model(asked.model));  // its error where there is none
    OpenedSide out{asked, stored_model(asked.model), {}};
    if (!asked.recipe.empty()) out.recipe = read_recipe(asked.recipe);
    if (out.asked.step < 0) out.asked.step = out.model.steps.back();
    check_step(out);
    if (!out.mixer().has_bias()) fail_usage("{}: {}", shown(asked.model), out.mixer().no_bias);
    return out;
}

void check_comparable(const OpenedSide& a, const OpenedSide& b) {
    if (a.mixer().bias != b.mixer().bias || a.is_causal() != b.is_causal())
        fail_usage("{} has {}, {} has {}: their cells do not correspond", shown(a.asked.model),
                   a.mixer().words, shown(b.asked.model), b.mixer().words);
}

// What is read of a layer.
struct MapsAsked {
    std::string quantity, gauge;
    int64_t blocks = 1;
};

int64_t layers_of(const OpenedSide& side) {
    return static_cast<int64_t>(side.model.status.layers.size());
}

// Reads both sides. One owner.
class BothSides {
  public:
    BothSides(const CompareJob& job, const JobControl& control)
        : job_(job), control_(control), a_(open_side(job.a)), b_(open_side(job.b)) {
        check_comparable(a_, b_);
    }
    [[nodiscard]] const OpenedSide& a() const { return a_; }
    [[nodiscard]] const OpenedSide& b() const { return b_; }
    // Of a, and of b in their order.
    [[nodiscard]] std::vector<HeadMatch> layers() const {
        std::vector<HeadMatch> out;
        for (int64_t i = 0; i < std::min(layers_of(a_), layers_of(b_)); ++i)
            out.push_back({.a = i, .b = i});
        return out;
    }
    [[nodiscard]] bool has_gauge() const {
        return a_.mixer().free_rows && !a_.mixer().has_kernel() && job_.gauge == "fixed" &&
               job_.blocks == 1;
    }
    // A layer of one side, of all heads.
    [[nodiscard]] Field read(const OpenedSide& side, int64_t layer, const MapsAsked& asked) {
        ProbeRequest request;
        request.layer = layer;
        request.step = side.asked.step;
        request.recipe = side.recipe;
        request.options["quantity"] = asked.quantity;
        request.probe = side.mixer().has_kernel() ? "kernel" : "bias";
        if (!side.mixer().has_kernel()) {
            request.options["gauge"] = asked.gauge;
            request.options["visible"] = "nan";
            if (side.mixer().bias == BiasLayout::band) request.options["view"] = "band";
            if (asked.blocks > 1) request.options["blocks"] = std::to_string(asked.blocks);
        }
        const FieldSet set = biases_.ask(side.asked.model, request, control_);
        const Field* const mean = set.find("mean");
        return mean != nullptr ? *mean : set.fields.front();
    }
    // Kernels of a sequence are the rows of one map: its heads.
    [[nodiscard]] HeadMaps heads_of(const Field& field) const {
        const bool has_heads = a_.mixer().has_kernel() || field.shape.size() == 3;
        return {.values = field.values, .heads = has_heads ? field.shape.front() : 1};
    }

  private:
    const CompareJob& job_;
    const JobControl& control_;
    OpenedSide a_, b_;
    StoredBiases biases_;
};

struct BothFields {
    Field a, b;
};

BothFields read_layer(BothSides& sides, const HeadMatch& layer, const MapsAsked& asked) {
    BothFields out{sides.read(sides.a(), layer.a, asked), sides.read(sides.b(), layer.b, asked)};
    const HeadMaps a = sides.heads_of(out.a), b = sides.heads_of(out.b);
    if (a.cells() != b.cells() || out.a.shape.back() != out.b.shape.back())
        fail_usage(
            "layers {} and {}: maps of {} and of {} values: only maps of one size are "
            "compared",
            layer.a, layer.b, a.cells(), b.cells());
    return out;
}

// All layers of one side, in blocks that can be matched.
std::vector<Field> read_all(BothSides& sides, const OpenedSide& side, const MapsAsked& asked,
                            const JobControl& control) {
    const int64_t total = layers_of(sides.a()) + layers_of(sides.b());
    const int64_t before = &side == &sides.a() ? 0 : layers_of(sides.a());
    std::vector<Field> out;
    for (int64_t i = 0; i < layers_of(side); ++i) {
        if (control.stop.stop_requested()) throw Interrupted();
        control.report({.done = before + i, .total = total, .what = "layers to match"});
        out.push_back(sides.read(side, i, asked));
    }
    if (before + layers_of(side) == total)
        control.report({.done = total, .total = total, .what = "layers to match"});
    return out;
}

LayerSizes sizes_of(const Status& status) {
    const MixerTraits& mixer = status.mixer;
    LayerSizes out{.layers = static_cast<int64_t>(status.layers.size()),
                   .heads = std::max<int64_t>(1, mixer.heads),
                   .rows = status.tokens,
                   .columns = status.tokens};
    if (mixer.bias == BiasLayout::band)
        out.columns = status.config.model.causal() ? mixer.window : 2 * mixer.window - 1;
    return out;
}

int64_t shortest_layer(const Status& status) {
    int64_t out = status.tokens;
    for (const MapLayer& layer : status.config.model.maps.layers)
        out = std::min(out, layer.tokens());
    return out;
}

// Of layer i of a with layer i of b; scores that are not known count as 0.
double sum_in_order(const LayersToMatch& layers, const std::stop_token& stop) {
    double sum = 0;
    for (size_t i = 0; i < std::min(layers.a.size(), layers.b.size()); ++i) {
        const LayersToMatch one{.a = layers.a.subspan(i, 1),
                                .b = layers.b.subspan(i, 1),
                                .matches_heads = layers.matches_heads};
        for (const HeadMatch& pair : match_layers(one, stop).pairs)
            if (!std::isnan(pair.score)) sum += pair.score;
    }
    return sum;
}

// Which layer of b belongs to which of a, by their maps.
void find_layer_pairs(BothSides& sides, const CompareJob& job, const JobControl& control,
                      CompareResult& result) {
    const int64_t block = block_of_matching(sides.a().model.status, sides.b().model.status);
    const MapsAsked asked{"w", job.gauge, std::max(job.blocks, block)};
    const std::vector<Field> of_a = read_all(sides, sides.a(), asked, control),
                             of_b = read_all(sides, sides.b(), asked, control);
    const auto heads = [&](const std::vector<Field>& fields) {
        std::vector<HeadMaps> out;
        for (const Field& field : fields) out.push_back(sides.heads_of(field));
        return out;
    };
    const std::vector<HeadMaps> a = heads(of_a), b = heads(of_b);
    const LayersToMatch layers{.a = a, .b = b, .matches_heads = job.matches};
    result.layer_pairs = match_layers(layers, control.stop).pairs;
    result.sum_in_order = sum_in_order(layers, control.stop);
    if (control.stop.stop_requested()) throw Interrupted();
}

// Of one layer, the largest first.
std::vector<ComparedCell> changes_of(const BothSides& sides, const BothFields& w,
                                     const ComparedLayer& layer, const CompareJob& job) {
    std::vector<ComparedCell> out;
    const HeadMaps a = sides.heads_of(w.a), b = sides.heads_of(w.b);
    const int64_t columns = w.a.shape.back();
    for (const HeadMatch& pair : layer.matching.pairs)
        for (const CellChange& cell : largest_changes(
                 a.head(pair.a), b.head(pair.b), static_cast<size_t>(job.changes), job.changes_by))
            out.push_back({.layer = layer.layer,
                           .layer_b = layer.layer_b,
                           .head_a = pair.a,
                           .head_b = pair.b,
                           .row = cell.cell / columns,
                           .column = cell.cell % columns,
                           .a = cell.a,
                           .b = cell.b});
    return out;
}

void keep_largest(std::vector<ComparedCell>& changes, const CompareJob& job) {
    std::stable_sort(changes.begin(), changes.end(),
                     [by = job.changes_by](const ComparedCell& x, const ComparedCell& y) {
                         return change_size(x.a, x.b, by) > change_size(y.a, y.b, by);
                     });
    if (static_cast<int64_t>(changes.size()) > job.changes)
        changes.resize(static_cast<size_t>(job.changes));
}

// Of the places of changes: a map of a kernel has rows and columns or taps, a band no sources.
void name_axes(const Field& field, CompareResult& result) {
    const size_t axes = field.axes.size();
    if (axes < 2) return;
    const std::string &row = field.axes[axes - 2], &column = field.axes[axes - 1];
    result.row_axis = row == "head" ? "row" : row;
    result.column_axis = column == "offset" ? "band column" : column;
}

void add_layer(BothSides& sides, const CompareJob& job, const HeadMatch& pair,
               CompareResult& result) {
    const BothFields w = read_layer(sides, pair, {"w", job.gauge, job.blocks});
    ComparedLayer out;
    out.layer = pair.a;
    out.layer_b = pair.b;
    static_cast<LayerComparison&>(out) =
        compare_heads(sides.heads_of(w.a), sides.heads_of(w.b), job.matches);
    if (sides.has_gauge()) {
        const BothFields raw = read_layer(sides, pair, {"w", "raw", job.blocks});
        out.by_gauge = share_of_gauge(sides.heads_of(raw.a), sides.heads_of(raw.b), out);
    }
    if (job.blocks == 1)
        for (const ComparedCell& cell : changes_of(sides, w, out, job))
            result.changes.push_back(cell);
    keep_largest(result.changes, job);
    name_axes(w.a, result);
    result.layers.push_back(std::move(out));
}

// The rows of a map of b in the order in which they are matched with those of a; NaN where none is.
std::vector<float> matched_rows(const HeadMaps& b, const HeadMatching& matching, int64_t rows) {
    std::vector<float> out(static_cast<size_t>(rows * b.cells()), std::nanf(""));
    for (const HeadMatch& pair : matching.pairs)
        std::copy(b.head(pair.b).begin(), b.head(pair.b).end(),
                  out.begin() + static_cast<ptrdiff_t>(pair.a * b.cells()));
    return out;
}

struct ChosenHead {
    const HeadMatching& matching;
    int64_t head = 0, head_b = -1;
    bool is_rows = false;  // all heads are the rows of one map
};

// The chosen map of both sides.
std::pair<std::vector<float>, std::vector<float>> maps_of(const BothSides& sides,
                                                          const BothFields& fields,
                                                          const ChosenHead& place) {
    const HeadMaps a = sides.heads_of(fields.a), b = sides.heads_of(fields.b);
    if (place.is_rows) return {fields.a.values, matched_rows(b, place.matching, a.heads)};
    if (place.head >= a.heads)
        fail_usage("--head {}: this model has heads 0 to {}", place.head, a.heads - 1);
    const int64_t of_b = place.head_b >= 0 ? place.head_b : place.matching.of_a(place.head);
    if (of_b < 0 || of_b >= b.heads)
        fail_usage("head {} of the first model has no head {} in the second, which has 0 to {}",
                   place.head, of_b, b.heads - 1);
    const auto one = a.head(place.head), other = b.head(of_b);
    return {{one.begin(), one.end()}, {other.begin(), other.end()}};
}

const ComparedLayer& layer_of_maps(const CompareResult& result, int64_t layer) {
    const auto found = std::find_if(result.layers.begin(), result.layers.end(),
                                    [&](const ComparedLayer& one) { return one.layer == layer; });
    if (found == result.layers.end())
        fail_usage("--layer {}: no layer of the second model is left to match it", layer);
    return *found;
}

void write_maps(BothSides& sides, const CompareJob& job, CompareResult& result) {
    const bool is_ratio = job.view == "ratio";
    const ComparedLayer& layer = layer_of_maps(result, job.layer);
    const BothFields fields = read_layer(sides, {.a = layer.layer, .b = layer.layer_b},
                                         {is_ratio ? "w" : job.quantity, job.gauge, job.blocks});
    const ChosenHead place{layer.matching, job.head, job.head_b,
                           sides.a().mixer().bias == BiasLayout::kernel_1d};
    auto [a, b] = maps_of(sides, fields, place);
    Field out;
    out.name = job.view;
    out.axes = {"row", "column"};
    out.step = sides.b().asked.step;
    const int64_t columns = fields.a.shape.back();
    out.shape = {static_cast<int64_t>(a.size()) / columns, columns};
    if (job.view == "both") {
        out.shape.insert(out.shape.begin(), 2);
        out.axes.insert(out.axes.begin(), "model");
        out.values = a;
        out.values.insert(out.values.end(), b.begin(), b.end());
    } else {
        for (size_t i = 0; i < a.size(); ++i)
            out.values.push_back(
                is_ratio ? static_cast<float>(std::expm1(static_cast<double>(b[i]) - a[i]))
                         : b[i] - a[i]);
    }
    job.out.ends_with(".npy") ? write_npy(job.out, out) : write_csv(job.out, out);
    result.file = job.out;
    result.shape = out.shape;
}

// Before anything is read.
void check_layer(const BothSides& sides, const CompareJob& job) {
    const int64_t of_a = layers_of(sides.a()), both = std::min(of_a, layers_of(sides.b()));
    if (job.out.empty() || job.layer < (job.matches_layers ? of_a : both)) return;
    if (job.matches_layers)
        fail_usage("--layer {}: the first model has layers 0 to {}", job.layer, of_a - 1);
    fail_usage("--layer {}: both models have layers 0 to {}", job.layer, both - 1);
}

void check_job(const CompareJob& job) {
    if (job.blocks < 1) fail_usage("--blocks: found {}, allowed: 1 and more", job.blocks);
    if (job.out.empty()) return;
    if (!job.out.ends_with(".npy") && !job.out.ends_with(".csv"))
        fail_usage("-o '{}': the name must end in .npy or .csv", shown(job.out));
    check_writable(job.out);
}

}  // namespace

std::vector<std::string> compare_views() {
    return {"both", "difference", "ratio"};
}

int64_t block_of_matching(const Status& a, const Status& b) {
    if (a.mixer.has_kernel() || b.mixer.has_kernel()) return 1;
    const int64_t block = std::max(matching_block(sizes_of(a)), matching_block(sizes_of(b)));
    return std::clamp<int64_t>(std::min(shortest_layer(a), shortest_layer(b)), 1, block);
}

CompareResult compare_job(const CompareJob& job, const JobControl& control) {
    check_job(job);
    BothSides sides(job, control);
    CompareResult result;
    result.a = sides.a().asked;
    result.b = sides.b().asked;
    result.gauge = job.gauge;
    check_layer(sides, job);
    if (job.matches_layers) find_layer_pairs(sides, job, control, result);
    const std::vector<HeadMatch> pairs = job.matches_layers ? result.layer_pairs : sides.layers();
    const auto count = static_cast<int64_t>(pairs.size());
    for (int64_t i = 0; i < count; ++i) {
        if (control.stop.stop_requested()) throw Interrupted();
        control.report({.done = i, .total = count, .what = "layers"});
        add_layer(sides, job, pairs[static_cast<size_t>(i)], result);
    }
    control.report({.done = count, .total = count, .what = "layers"});
    if (!job.out.empty()) write_maps(sides, job, result);
    result.settings =
        differing_settings({&sides.a().model.status.config, &sides.b().model.status.config});
    return result;
}

}  // namespace aft
