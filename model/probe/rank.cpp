// rank: the singular values of the position bias of a layer, largest first, and how many of them
// hold 50, 90 and 99 % of its energy (their squares). Of factors u r^T from their QR
// decompositions, w as a whole, O(T d'^2); else of the visible w, hidden cells as 0, O(T^3);
// kernels over pictures head by head.
#include <ATen/ATen.h>

#include "model/mixers/factor_svd.h"
#include "model/probe/parts.h"

namespace aft {

ProbeRoom rank_probe();

namespace {

constexpr int64_t kMostTokens = 4096;

// [heads, min(T, T)]
at::Tensor of_rows(const ProbeContext& context, const ProbeRequest& request) {
    const probe::BiasTable table(context.net, request.layer);
    if (table.traits().bias == BiasLayout::kernel_1d)
        fail_usage("layer {} is {}: a kernel over a sequence has no rank", request.layer,
                   table.traits().words);
    if (table.traits().has_kernel()) {
        const at::Tensor w = *context.net.mixer(request.layer).bias(table.tokens());
        return at::linalg_svdvals(w.to(at::kCPU, at::kDouble));
    }
    if (table.tokens() > kMostTokens)
        fail_usage("probe rank: the bias has {} tokens and no factors; at most {}", table.tokens(),
                   kMostTokens);
    const probe::BiasRows rows = table.rows(0, table.tokens());
    return at::linalg_svdvals(at::where(rows.visible & rows.inside, rows.values, 0.0));
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ModelConfig& model = context.net.config();
    if (const MixerTraits traits = mixer_traits(model, request.layer); !traits.has_bias())
        fail_usage("layer {} is {}: {}", request.layer, model.mixer, traits.no_bias);
    const StoredBias stored = context.net.mixer(request.layer).stored_bias(model.tokens());
    at::Tensor values = stored.u.defined() ? svd_of_factors(stored.u, stored.r).values.unsqueeze(0)
                                           : of_rows(context, request);
    if (request.head >= 0) {
        probe::check_range("head", request.head, values.size(0));
        values = values.slice(0, request.head, request.head + 1);
    }
    const at::Tensor energy = values.square();
    const at::Tensor held = energy.cumsum(1) / energy.sum(1, true).clamp_min(1e-300);
    std::vector<at::Tensor> ranks;
    for (const double part : {0.5, 0.9, 0.99})
        ranks.push_back(((held < part - 1e-12).sum(1) + 1).clamp_max(values.size(1)));
    return {{probe::make_field(values,
                               {"singular-values",
                                "nats",
                                {"head", "component"},
                                {{"of", stored.u.defined() ? "u r^T" : "visible w"}}},
                               context.step),
             probe::make_field(at::stack(ranks, 1),
                               {"rank", "", {"head", "energy"}, {{"columns", "50 %, 90 %, 99 %"}}},
                               context.step)}};
}

}  // namespace

ProbeRoom rank_probe() {
    return {.info = {"rank", "singular values of the position bias of a layer"},
            .options = {},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
