// components: the singular components of the position bias of a layer and head, as pictures over
// the positions: w = sum_i a_i b_i^T, a_i over the targets and b_i over the sources, each with half
// of the singular value (Zhai et al. 2021, section 3.3: w = u v^T). Of factors from their QR
// decompositions, w as a whole, O(T d'^2); else of the visible w, hidden cells as 0, O(T^3).
#include <ATen/ATen.h>

#include <algorithm>

#include "model/mixers/factor_svd.h"
#include "model/probe/parts.h"

namespace aft {

ProbeRoom components_probe();

namespace {

constexpr int64_t kMostTokens = 4096, kMostComponents = 64, kUsual = 8;

FactorSvd of_rows(const probe::BiasTable& table, int64_t head) {
    if (table.tokens() > kMostTokens)
        fail_usage("probe components: the bias has {} tokens and no factors; at most {}",
                   table.tokens(), kMostTokens);
    const probe::BiasRows rows = table.rows(0, table.tokens());
    const at::Tensor w =
        at::where(rows.visible_of(head) & rows.inside, rows.values.select(0, head), 0.0);
    const auto [left, values, right] = at::linalg_svd(w, false);
    return {left, values, right.t()};
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ModelConfig& model = context.net.config();
    const probe::BiasTable table(context.net, request.layer);
    if (table.traits().has_kernel())
        fail_usage("layer {} is {}: a kernel has no components over the positions", request.layer,
                   table.traits().words);
    const int64_t head = std::max<int64_t>(0, request.head);
    probe::check_range("head", head, table.heads());
    const int64_t asked = probe::number(request, "components", 1, kMostComponents);
    const StoredBias stored = context.net.mixer(request.layer).stored_bias(model.tokens());
    const FactorSvd all =
        stored.u.defined() ? svd_of_factors(stored.u, stored.r) : of_rows(table, head);
    const int64_t n = std::min(asked < 0 ? kUsual : asked, all.values.size(0));
    const at::Tensor largest = all.right.slice(1, 0, n).abs().argmax(0, true);
    const at::Tensor sign = all.right.slice(1, 0, n).gather(0, largest).sign();
    const at::Tensor half = all.values.slice(0, 0, n).sqrt() * sign;
    const at::Tensor energy = all.values.square();
    const at::Tensor share = energy.slice(0, 0, n) / energy.sum().clamp_min(1e-300);
    const auto field = [&](const at::Tensor& values, const char* name, const char* unit,
                           std::vector<std::string> axes) {
        return probe::make_field(
            values,
            {name, unit, std::move(axes), {{"of", stored.u.defined() ? "u r^T" : "visible w"}}},
            context.step);
    };
    const auto over = [&](const at::Tensor& side) { return (side.slice(1, 0, n) * half).t(); };
    return {{field(over(all.left), "targets", "sqrt(nats)", {"component", "target"}),
             field(over(all.right), "sources", "sqrt(nats)", {"component", "source"}),
             field(all.values.slice(0, 0, n), "singular-values", "nats", {"component"}),
             field(share, "energy", "", {"component"})}};
}

}  // namespace

ProbeRoom components_probe() {
    return {.info = {"components", "singular components of the position bias over the positions"},
            .options = {{"components", {}, ""}},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
