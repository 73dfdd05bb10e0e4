// relative-attention: the average over the targets of what they attend to at each offset from
// themselves in the picture (Zhai et al. 2021, Figures 1 left and 5),
//   m[dy, dx] = mean over targets (y, x), whose source (y + dy, x + dx) is visible, of a[target,
//   source],
// [head, 2H-1, 2W-1] with offset (0, 0) in the middle, H x W the token grid. a: softmax attention
// per head, or the implicit attention of AFT (Eq. 3 without its gate): per channel,
// as the mean over the channels of each head, or over all channels, plain or weighted by the gate.
// A class token and a start token stand on no grid: they are left out, and the rows are not scaled
// to make up for them. In causal models source j is the value before target j. A text is a grid of
// one row. Where no pair is visible 0, or NaN with visible=nan. targets=N takes N of them, evenly
// spread.
// Cost: O(T) rows of T x d, one at a time; O(d H W) memory for channels.
#include <ATen/ATen.h>

#include <cmath>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom relative_attention_probe();

namespace {

// Where a source or a target lies: place `index - first` of the grid.
struct GridOf {
    int64_t height = 0, width = 0;
    int64_t first_target = 0, first_source = 0;
    [[nodiscard]] int64_t cells() const { return height * width; }
};

GridOf grid_of(const ModelConfig& model) {
    GridOf grid{model.grid_height(), model.grid_width()};
    grid.first_target = grid.first_source = model.prefix_tokens();
    if (model.causal()) grid.first_source = 1;  // source 0 is the start token
    return grid;
}

// [rows, T] -> [groups, T]
at::Tensor grouped(const probe::ShareRows& rows, const std::string& how, int64_t heads) {
    if (how == "mean" || how == "gate") return probe::reduced(rows, how);
    const int64_t count = rows.shares.size(0);
    if (how == "channel" || count <= heads || count % heads != 0) return rows.shares;
    return rows.shares.view({heads, count / heads, -1}).mean(1);
}

class OffsetMean {
  public:
    explicit OffsetMean(const GridOf& grid) : grid_(grid) {
        const int64_t rows = 2 * grid.height - 1, columns = 2 * grid.width - 1;
        pairs_ = at::zeros({rows, columns}, at::kDouble);
    }

    void add(const at::Tensor& shares, const at::Tensor& visible, int64_t target) {
        const int64_t place = target - grid_.first_target;
        const int64_t y = place / grid_.width, x = place % grid_.width;
        if (!sum_.defined())
            sum_ = at::zeros({shares.size(0), pairs_.size(0), pairs_.size(1)}, at::kDouble);
        // The window of the offsets that this target has, (-y, -x) first.
        const auto window = [&](const at::Tensor& all) {
            return all.slice(-2, grid_.height - 1 - y, 2 * grid_.height - 1 - y)
                .slice(-1, grid_.width - 1 - x, 2 * grid_.width - 1 - x);
        };
        window(sum_).add_(on_grid(shares));
        window(pairs_).add_(on_grid(visible.to(at::kDouble).unsqueeze(0)).squeeze(0));
    }

    [[nodiscard]] at::Tensor mean(double hidden) const {
        return at::where(pairs_ > 0, sum_ / pairs_.clamp_min(1), hidden);
    }

  private:
    // [rows, T] -> [rows, H, W]; the last value of a causal grid is nobody's source.
    [[nodiscard]] at::Tensor on_grid(const at::Tensor& rows) const {
        at::Tensor on = rows.slice(1, grid_.first_source);
        if (on.size(1) < grid_.cells())
            on = at::constant_pad_nd(on, {0, grid_.cells() - on.size(1)});
        return on.view({rows.size(0), grid_.height, grid_.width});
    }

    GridOf grid_;
    at::Tensor sum_, pairs_;
};

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ProbeRoom room = relative_attention_probe();
    const ModelConfig& model = context.net.config();
    const GridOf grid = grid_of(model);
    const std::string part = probe::option(room, request, "part");
    const std::string reduce = probe::option(room, request, "reduce");
    const int64_t asked = probe::number(request, "targets", 1, grid.cells());
    const int64_t count = asked < 0 ? grid.cells() : asked;
    const probe::LayerShares layer(context, request, part);
    const bool one_head = request.head >= 0 || request.channel >= 0;
    OffsetMean offsets(grid);
    std::string axis = "head";
    for (int64_t i = 0; i < count; ++i) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        // The middles of `count` equal stretches.
        const int64_t place = (2 * i + 1) * grid.cells() / (2 * count);
        const probe::ShareRows rows = layer.at(grid.first_target + place);
        if (reduce == "channel") axis = rows.axis;
        offsets.add(grouped(rows, reduce, one_head ? 1 : mixer_traits(model).heads), rows.visible,
                    grid.first_target + place);
    }
    const double hidden = probe::option(room, request, "visible") == "nan" ? std::nan("") : 0;
    probe::FieldText text{"relative-attention", "share", {axis, "y", "x"}, {}};
    text.notes = {{"part", part},
                  {"reduce", reduce},
                  {"targets", fmt::format("{} of {}", count, grid.cells())},
                  {"quantity", "attention by offset"},
                  {"normalisation", "mean over the targets that have the offset"}};
    return {{probe::make_field(offsets.mean(hidden), std::move(text), context.step)}};
}

}  // namespace

ProbeRoom relative_attention_probe() {
    return {.info = {"relative-attention",
                     "attention by the offset between source and target, mean over targets"},
            .options = {{"part", {"prior", "content", "both"}, "both"},
                        {"reduce", {"head", "channel", "mean", "gate"}, "head"},
                        {"visible", {"all", "nan"}, "all"},
                        {"targets", {}, ""}},
            .needs = ProbeNeeds::input,
            .averages_inputs = true,
            .run = run};
}

}  // namespace aft
