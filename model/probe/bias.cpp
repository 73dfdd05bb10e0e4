// bias: the effective position bias w[t, j] of a layer (how much target t attends to source j), as
// w, exp(w), exp(w)-1 or the row's share; whole, one row, the band of aft-local, or reduced to
// blocks with mean, minimum, maximum and norm (and, of maps alone, the count of visible cells).
// also=w: a second field `w` of the same cells, which cannot be had back from a rounded exp(w)-1.
// Sources that a target cannot see are NaN and count in no block; visible=all has what is stored
// for them. Cost O(T^2 d') time, O(T) rows at a time in memory; results of more than 2^28 values
// are refused (ask for blocks).
#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom bias_probe();

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct BiasOptions {
    std::string quantity, gauge, view;
    bool mark_invisible = false, also_w = false;
    int64_t head = -1, row = -1, blocks = -1;
};

struct MapRows {
    at::Tensor values;   // [heads, rows, columns], float64
    at::Tensor visible;  // [rows, columns] or [heads, rows, columns]
};

at::Tensor convert(const probe::BiasRows& rows, const std::string& quantity) {
    if (quantity == "exp") return rows.values.exp();
    if (quantity == "exp-1") return rows.values.expm1();
    if (quantity == "row-share")
        return at::softmax(at::where(rows.visible, rows.values, -kInfinity), 2);
    return rows.values;
}

// Columns become offsets t - j: 0 .. s-1, and from -(s-1) without causal masking.
MapRows to_band(const MapRows& rows, int64_t first, const probe::BiasTable& table) {
    const int64_t window = table.traits().window, low = table.is_causal() ? 0 : 1 - window;
    const at::Tensor t = at::arange(first, first + rows.visible.size(-2), at::kLong).unsqueeze(1);
    const at::Tensor j = t - at::arange(low, window, at::kLong).unsqueeze(0);
    const int64_t T = rows.visible.size(-1);
    const at::Tensor there = (j >= 0) & (j < T);
    const at::Tensor index = j.clamp(0, T - 1);
    const at::Tensor spread = index.unsqueeze(0).expand({rows.values.size(0), -1, -1});
    const at::Tensor of_visible =
        rows.visible.dim() == 2 ? index : index.unsqueeze(0).expand({rows.visible.size(0), -1, -1});
    return {rows.values.gather(2, spread), rows.visible.gather(-1, of_visible) & there};
}

// A row beyond the window sees source 0, which is outside: no constant is free there.
bool may_have_free_rows(const probe::BiasTable& table, int64_t first) {
    const MixerTraits& traits = table.traits();
    const bool sees_outside = traits.window > 0 && !traits.outside_hidden && !traits.has_masks;
    return traits.free_rows && !(sees_outside && first > traits.window);
}

probe::BiasRows gauged_rows(const probe::BiasTable& table, const BiasOptions& options,
                            int64_t first, int64_t end) {
    probe::BiasRows rows = table.rows(first, end);
    // With it the rows of a long sequence cost twice the time.
    if (options.gauge == "fixed" && may_have_free_rows(table, first)) probe::fix_gauge(rows);
    return rows;
}

struct CellsOf {  // of the rows from `first` on
    const probe::BiasRows& rows;
    at::Tensor values;
    int64_t first = 0;
};

MapRows shape_rows(const probe::BiasTable& table, const BiasOptions& options, const CellsOf& of) {
    MapRows out{of.values, of.rows.visible};
    if (options.head >= 0) {
        out.values = out.values.slice(0, options.head, options.head + 1);
        out.visible = of.rows.visible_of(options.head);
    }
    if (options.view == "band") out = to_band(out, of.first, table);
    return out;
}

// most_tokens: of all layers, which may be asked for in the same blocks.
BiasOptions read_options(const probe::BiasTable& table, const ProbeRequest& request,
                         int64_t most_tokens) {
    const ProbeRoom room = bias_probe();
    BiasOptions options;
    options.quantity = probe::option(room, request, "quantity");
    options.gauge = probe::option(room, request, "gauge");
    options.view = probe::option(room, request, "view");
    options.mark_invisible = probe::option(room, request, "visible") == "nan";
    options.also_w = probe::option(room, request, "also") == "w";
    options.row = probe::number(request, "row", 0, table.tokens() - 1);
    options.blocks = probe::number(request, "blocks", 1, most_tokens);
    if (options.also_w && options.blocks > 0 && options.row < 0)
        fail_usage("probe bias: also=w goes with single values, not with blocks={}",
                   options.blocks);
    if (request.head >= 0) probe::check_range("head", request.head, table.heads());
    options.head = request.head;
    if (options.view == "band" && (table.traits().has_kernel() || table.traits().window < 1))
        fail_usage(
            "probe bias: view=band is for a bias inside a window, as of aft-local; this layer is "
            "{}",
            table.traits().words);
    return options;
}

class BiasResult {
  public:
    BiasResult(const probe::BiasTable& table, BiasOptions options, int64_t step)
        : table_(table), options_(std::move(options)), step_(step) {}

    // The whole map or one row; also=w: in w beside it.
    FieldSet whole(const JobControl& control) const {
        const int64_t T = table_.tokens();
        const int64_t first = options_.row >= 0 ? options_.row : 0;
        const int64_t end = options_.row >= 0 ? options_.row + 1 : T;
        const int64_t heads = options_.head >= 0 ? 1 : table_.heads();
        AFT_CHECK(heads * (end - first) * T <= (int64_t{1} << 28),
                  "the bias of {} heads x {} x {} is too large; ask for blocks=N or one head",
                  heads, end - first, T);
        std::vector<at::Tensor> parts, in_w;
        const int64_t chunk = rows_at_once();
        for (int64_t i = first; i < end; i += chunk) {
            if (control.stop.stop_requested()) throw Interrupted();
            const probe::BiasRows rows = gauged_rows(table_, options_, i, std::min(i + chunk, end));
            parts.push_back(single_values({rows, convert(rows, options_.quantity), i}));
            if (options_.also_w) in_w.push_back(single_values({rows, rows.values, i}));
        }
        FieldSet out{{joined(parts)}};
        if (!options_.also_w) return out;
        BiasOptions exact = options_;
        exact.quantity = "w";
        out.fields.push_back(BiasResult(table_, exact, step_).joined(in_w));
        out.fields.back().name = "w";
        return out;
    }

    // Blocks of N x N cells: mean, minimum, maximum and norm over their visible cells.
    FieldSet blocks(const JobControl& control) const {
        const int64_t T = table_.tokens(), n = options_.blocks;
        // Whole block rows at a time.
        const int64_t step = std::max<int64_t>(rows_at_once() / n, 1) * n;
        std::vector<at::Tensor> mean, low, high, norm, counts;
        for (int64_t i = 0; i < T; i += step) {
            if (control.stop.stop_requested()) throw Interrupted();
            const probe::BiasRows all = gauged_rows(table_, options_, i, std::min(i + step, T));
            MapRows rows = shape_rows(table_, options_, {all, convert(all, options_.quantity), i});
            if (!options_.mark_invisible && options_.view != "band")
                rows.visible = at::ones_like(rows.visible);
            const auto cut = [&](const at::Tensor& x) {  // [heads, blocks, n, blocks, n]
                const at::Tensor whole =
                    at::constant_pad_nd(x, {0, missing(x.size(2)), 0, missing(x.size(1))});
                return whole.view({x.size(0), whole.size(1) / n, n, whole.size(2) / n, n});
            };
            const at::Tensor visible =
                rows.visible.dim() == 2 ? rows.visible.unsqueeze(0) : rows.visible;
            const at::Tensor cells = cut(rows.values), seen = cut(visible);
            const at::Tensor count = seen.sum({2, 4});
            const auto nan_if_empty = [&](const at::Tensor& x) {
                return at::where(count > 0, x, std::nan("")).to(at::kFloat);
            };
            const auto shown = [&](double hidden) { return at::where(seen, cells, hidden); };
            const at::Tensor seen_cells = shown(0);
            mean.push_back(nan_if_empty(seen_cells.sum({2, 4}) / count.clamp_min(1)));
            norm.push_back(nan_if_empty(seen_cells.square().sum({2, 4}).sqrt()));
            counts.push_back(count.expand(mean.back().sizes()).to(at::kFloat));
            low.push_back(nan_if_empty(shown(kInfinity).amin({2, 4})));
            high.push_back(nan_if_empty(shown(-kInfinity).amax({2, 4})));
        }
        FieldSet out{{field("mean", at::cat(mean, 1), true), field("min", at::cat(low, 1), true),
                      field("max", at::cat(high, 1), true), field("norm", at::cat(norm, 1), true)}};
        if (table_.traits().has_masks)  // others follow from the layout
            out.fields.push_back(field("count", at::cat(counts, 1), true));
        return out;
    }

  private:
    at::Tensor single_values(const CellsOf& of) const {
        MapRows rows = shape_rows(table_, options_, of);
        if (options_.mark_invisible || options_.view == "band")
            rows.values = at::where(rows.visible, rows.values, std::nan(""));
        return rows.values.to(at::kFloat);
    }
    Field joined(const std::vector<at::Tensor>& parts) const {
        at::Tensor all = at::cat(parts, 1);
        if (options_.row >= 0) all = all.select(1, 0);
        return field("bias", all, options_.row < 0);
    }

    // 256, fewer where they would hold more than 2^24 values of all heads.
    int64_t rows_at_once() const {
        const int64_t row = std::max<int64_t>(1, table_.heads() * table_.tokens());
        return std::clamp<int64_t>((int64_t{1} << 24) / row, 1, 256);
    }

    // Padding of a side to a multiple of the block size.
    int64_t missing(int64_t cells) const {
        return (options_.blocks - cells % options_.blocks) % options_.blocks;
    }

    Field field(const std::string& name, at::Tensor values, bool has_targets) const {
        probe::FieldText text;
        text.name = name;
        text.unit = options_.quantity == "w"           ? "nats"
                    : options_.quantity == "row-share" ? "share"
                                                       : "";
        if (table_.has_heads() && options_.head < 0) {
            text.axes.push_back("head");
        } else {
            values = values.select(0, 0);
        }
        if (has_targets) text.axes.push_back("target");
        text.axes.push_back(options_.view == "band" ? "offset" : "source");
        text.notes = {{"quantity", options_.quantity}, {"gauge", gauge_words()}};
        if (table_.traits().has_masks) text.notes["masks"] = "w = -inf: hidden";
        if (options_.view == "band")
            text.notes["first_offset"] =
                std::to_string(table_.is_causal() ? 0 : 1 - table_.traits().window);
        if (options_.blocks > 0) text.notes["block"] = std::to_string(options_.blocks);
        return probe::make_field(values, std::move(text), step_);
    }

    std::string gauge_words() const {
        if (options_.gauge == "raw") return "raw";
        if (!table_.traits().free_rows) return "raw: this bias has no free constant";
        if (table_.traits().window == 0) return "fixed: row log-mean-exp removed";
        return "fixed: row log-mean-exp removed where all visible sources are in the window";
    }

    const probe::BiasTable& table_;
    BiasOptions options_;
    int64_t step_;
};

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const probe::BiasTable table(context.net, request.layer);
    const BiasOptions options = read_options(table, request, context.net.config().tokens());
    const BiasResult result(table, options, context.step);
    if (options.blocks > 0 && options.row < 0) return result.blocks(context.control);
    return result.whole(context.control);
}

}  // namespace

ProbeRoom bias_probe() {
    return {.info = {"bias",
                     "effective position bias w of a layer, target by source, whole or in blocks"},
            .options = {{"quantity", {"w", "exp-1", "exp", "row-share"}, "w"},
                        {"gauge", {"fixed", "raw"}, "raw"},
                        {"visible", {"all", "nan"}, "nan"},
                        {"view", {"map", "band"}, "map"},
                        {"also", {"none", "w"}, "none"},
                        {"row", {}, ""},
                        {"blocks", {}, ""}},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
