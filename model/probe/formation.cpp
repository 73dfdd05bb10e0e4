// formation: what has formed in the position biases of all layers: one row a layer and head, in
// their order. RMS: the root mean square of the visible w, gauge fixed, in nats. Entropy: of the
// row's share (softmax of w over the visible sources, K = 0) over that of a flat row, 0 to 1, the
// mean over the targets. Largest share, mean over the targets. Mean distance: as in "reach". Of at
// most 256 targets, evenly spread. Cost O(layers heads 256 T).
#include <ATen/ATen.h>

#include <algorithm>

#include "model/probe/parts.h"
#include "model/probe/reach_sums.h"

namespace aft {

ProbeRoom formation_probe();

namespace {

constexpr int64_t kMostWhole = 256, kSomeTargets = 64;
constexpr int64_t kBlockValues = int64_t{1} << 20;
constexpr const char* kFormationColumns = "rms, entropy, largest share, mean distance";

// Of one layer; sums over its targets, [heads] each.
class FormationSums {
  public:
    FormationSums(const ModelConfig& model, const probe::BiasTable& table, int64_t layer)
        : reach_(table.heads(), probe::places_of(model, table.tokens(), layer)),
          free_rows_(table.traits().free_rows) {
        for (at::Tensor* sum : {&squares_, &cells_, &entropy_, &largest_})
            *sum = at::zeros({table.heads()}, at::kDouble);
    }

    void add(probe::BiasRows rows, int64_t first) {
        const at::Tensor share = probe::prior_share(rows);
        const at::Tensor visible = rows.visible.expand(rows.values.sizes());
        const at::Tensor flat = visible.sum(2).clamp_min(2).to(at::kDouble).log();
        entropy_ += ((-share * share.clamp_min(1e-300).log()).sum(2) / flat).sum(1);
        largest_ += share.amax(2).sum(1);
        reach_.add(share, first);
        targets_ += rows.values.size(1);
        if (free_rows_) static_cast<void>(probe::fix_gauge(rows));
        const at::Tensor seen = visible & rows.values.isfinite();
        squares_ += at::where(seen, rows.values, 0.0).square().sum({1, 2});
        cells_ += seen.sum({1, 2});
    }

    // [heads, 4]
    [[nodiscard]] at::Tensor numbers() const {
        const auto targets = static_cast<double>(std::max<int64_t>(1, targets_));
        return at::stack({(squares_ / cells_.clamp_min(1)).sqrt(), entropy_ / targets,
                          largest_ / targets, reach_.numbers().select(1, 2)},
                         1);
    }

  private:
    probe::ReachSums reach_;
    bool free_rows_;
    at::Tensor squares_, cells_, entropy_, largest_;
    int64_t targets_ = 0;
};

at::Tensor of_layer(const ProbeContext& context, int64_t layer) {
    const probe::BiasTable table(context.net, layer);
    const int64_t T = table.tokens(), targets = T <= kMostWhole ? T : kSomeTargets;
    const int64_t block =
        T > kMostWhole ? 1 : std::max<int64_t>(1, kBlockValues / (table.heads() * T));
    FormationSums sums(context.net.config(), table, layer);
    for (int64_t i = 0; i < targets; i += block) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        const int64_t t = targets == T ? i : (2 * i + 1) * T / (2 * targets);
        sums.add(table.rows(t, std::min(t + block, T)), t);
    }
    return sums.numbers();
}

FieldSet run(const ProbeContext& context, const ProbeRequest&) {
    const ModelConfig& model = context.net.config();
    std::vector<at::Tensor> layers;
    std::string heads;  // of every layer; 0 = it has no bias
    for (int64_t layer = 0; layer < model.layers; ++layer) {
        const bool has_bias = mixer_traits(model, layer).has_bias();
        if (has_bias) layers.push_back(of_layer(context, layer));
        heads += fmt::format("{}{}", layer == 0 ? "" : " ", has_bias ? layers.back().size(0) : 0);
    }
    if (layers.empty()) fail_usage("{}: {}", model.mixer, mixer_traits(model, 0).no_bias);
    return {{probe::make_field(at::cat(layers),
                               {"formation",
                                "",
                                {"layer and head", "number"},
                                {{"columns", kFormationColumns}, {"heads", heads}}},
                               context.step)}};
}

}  // namespace

ProbeRoom formation_probe() {
    return {.info = {"formation", "what has formed in the position biases of all layers and heads"},
            .options = {},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
