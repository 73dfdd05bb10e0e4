#include "model/jobs/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/files.h"
#include "core/outside.h"
#include "core/settings.h"
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

OpenedSide open_side(const ComparedModel& asked) {
    static_cast<void>(resolve_model(asked.model));  // its error where there is none
    OpenedSide out{asked, stored_model(asked.model), {}};
    if (!asked.recipe.empty()) out.recipe = read_recipe(asked.recipe);
    if (out.asked.step < 0) out.asked.step = out.model.steps.back();
    if (!out.mixer().has_bias()) fail_usage("{}: {}", shown(asked.model), out.mixer().no_bias);
    return out;
}

void check_comparable(const OpenedSide& a, const OpenedSide& b) {
    if (a.mixer().bias != b.mixer().bias || a.is_causal() != b.is_causal())
        fail_usage("{} has {}, {} has {}: their cells do not correspond", shown(a.asked.model),
                   a.mixer().words, shown(b.asked.model), b.mixer().words);
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
    [[nodiscard]] int64_t layers() const {
        return static_cast<int64_t>(
            std::min(a_.model.status.layers.size(), b_.model.status.layers.size()));
    }
    [[nodiscard]] bool has_gauge() const {
        return a_.mixer().free_rows && !a_.mixer().has_kernel() && job_.gauge == "fixed" &&
               job_.blocks == 1;
    }
    // A layer of one side, of all heads.
    [[nodiscard]] Field read(const OpenedSide& side, int64_t layer, const std::string& quantity,
                             const std::string& gauge) {
        ProbeRequest request;
        request.layer = layer;
        request.step = side.asked.step;
        request.recipe = side.recipe;
        request.options["quantity"] = quantity;
        request.probe = side.mixer().has_kernel() ? "kernel" : "bias";
        if (!side.mixer().has_kernel()) {
            request.options["gauge"] = gauge;
            request.options["visible"] = "nan";
            if (side.mixer().bias == BiasLayout::band) request.options["view"] = "band";
            if (job_.blocks > 1) request.options["blocks"] = std::to_string(job_.blocks);
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

BothFields read_layer(BothSides& sides, int64_t layer, const std::string& quantity,
                      const std::string& gauge) {
    BothFields out{sides.read(sides.a(), layer, quantity, gauge),
                   sides.read(sides.b(), layer, quantity, gauge)};
    const HeadMaps a = sides.heads_of(out.a), b = sides.heads_of(out.b);
    if (a.cells() != b.cells() || out.a.shape.back() != out.b.shape.back())
        fail_usage("layer {}: maps of {} and of {} values: only maps of one size are compared",
                   layer, a.cells(), b.cells());
    return out;
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

void add_layer(BothSides& sides, const CompareJob& job, int64_t number, CompareResult& result) {
    const BothFields w = read_layer(sides, number, "w", job.gauge);
    ComparedLayer out;
    out.layer = number;
    static_cast<LayerComparison&>(out) =
        compare_heads(sides.heads_of(w.a), sides.heads_of(w.b), job.matches);
    if (sides.has_gauge()) {
        const BothFields raw = read_layer(sides, number, "w", "raw");
        out.by_gauge = share_of_gauge(sides.heads_of(raw.a), sides.heads_of(raw.b), out);
    }
    if (job.blocks == 1)
        for (const ComparedCell& cell : changes_of(sides, w, out, job))
            result.changes.push_back(cell);
    keep_largest(result.changes, job);
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

void write_maps(BothSides& sides, const CompareJob& job, CompareResult& result) {
    const bool is_ratio = job.view == "ratio";
    const BothFields fields =
        read_layer(sides, job.layer, is_ratio ? "w" : job.quantity, job.gauge);
    const ChosenHead place{result.layers[static_cast<size_t>(job.layer)].matching, job.head,
                           job.head_b, sides.a().mixer().bias == BiasLayout::kernel_1d};
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

CompareResult compare_job(const CompareJob& job, const JobControl& control) {
    check_job(job);
    BothSides sides(job, control);
    CompareResult result;
    result.a = sides.a().asked;
    result.b = sides.b().asked;
    result.gauge = job.gauge;
    if (!job.out.empty() && job.layer >= sides.layers())
        fail_usage("--layer {}: both models have layers 0 to {}", job.layer, sides.layers() - 1);
    for (int64_t i = 0; i < sides.layers(); ++i) {
        if (control.stop.stop_requested()) throw Interrupted();
        control.report({.done = i, .total = sides.layers(), .what = "layers"});
        add_layer(sides, job, i, result);
    }
    if (!job.out.empty()) write_maps(sides, job, result);
    result.settings =
        differing_settings({&sides.a().model.status.config, &sides.b().model.status.config});
    return result;
}

std::vector<DifferingSetting> differing_settings(const std::vector<const Config*>& configs) {
    constexpr const char* kNotRead = "\u2013";
    std::vector<DifferingSetting> out;
    if (configs.empty()) return out;
    std::vector<Config> copies;  // rows point into them
    std::vector<SettingRows> rows;
    std::vector<std::set<std::string>> unread;
    for (const Config* const config : configs) copies.push_back(*config);
    for (Config& config : copies) {
        rows.push_back(config.rows());
        unread.push_back(unread_settings(config));
    }
    for (const Setting& row : rows.front()) {
        DifferingSetting one{.key = row.key, .values = {}};
        bool is_read = false, differs = false;
        for (size_t i = 0; i < rows.size(); ++i) {
            const bool is_read_here = !unread[i].contains(row.key);
            const Setting* const found = find_setting(rows[i], row.key);
            one.values.push_back(found != nullptr && is_read_here ? value_text(*found) : kNotRead);
            is_read |= is_read_here;
            differs |= one.values.back() != one.values.front();
        }
        if (is_read && differs) out.push_back(std::move(one));
    }
    return out;
}

}  // namespace aft
