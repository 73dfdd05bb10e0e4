// aft-simple composed of tensor calls: exp, two cumulative sums (two sums without causality),
// divide, gate. The maximum of K over the sequence is taken out (it cancels).
#include <ATen/ATen.h>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

at::Tensor composed(const ops::Inputs& in, bool causal) {
    const at::Tensor x = (in.k - std::get<0>(in.k.max(1, true))).exp();
    const at::Tensor n = x * in.v;
    if (!causal) return in.q.sigmoid() * (n.sum(1, true) / x.sum(1, true));
    return in.q.sigmoid() * (n.cumsum(1) / x.cumsum(1));
}

std::vector<Form> forms(const Problem& problem) {
    if (problem.kind != ops::OperatorKind::simple) return {};
    std::vector<Form> both;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
        both.push_back(
            {.name = type == at::kFloat ? "cumulative sums fp32" : "cumulative sums bf16",
             .group = "composition",
             .type = type,
             .table = {},
             .forward = [causal = problem.options.causal](
                            const ops::Inputs& in,
                            const at::Tensor&) { return composed(in, causal); },
             .exact = {}});
    return both;
}

}  // namespace

PeerRoom composition_peer() {
    return {.info = {"composition", "aft-simple by cumulative sums of exp(K) V and exp(K)"},
            .forms = forms};
}

}  // namespace aft::bench
