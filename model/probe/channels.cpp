// channels: what tells the channels (or heads) of one target apart, [channels, 3]:
//   gate:       sigma(Q[t,c]), 1 without a gate
//   sharpness:  1 - entropy of the row / log2(visible sources)
//   divergence: sum over sources j of a[t,j,c] log2(a[t,j,c] / prior[t,j]), bits, from the prior's
//               row reduced over the channels; NaN without a position bias
// Cost: O(T d) beside one forward pass, which is kept.
#include <ATen/ATen.h>

#include <limits>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom channels_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const std::string reduce = probe::option(channels_probe(), request, "reduce");
    const probe::ShareRows rows = probe::share_rows(context, request, "both");
    at::Tensor divergence =
        at::full({rows.shares.size(0)}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
    if (mixer_traits(context.net.config()).has_prior())
        divergence = probe::divergence_bits(
            rows.shares, probe::reduced(probe::share_rows(context, request, "prior"), reduce));
    const at::Tensor numbers =
        at::stack({rows.gate.to(at::kDouble), probe::sharpness(rows), divergence}, 1);
    const std::map<std::string, std::string> notes{{"reduce", reduce},
                                                   {"position", std::to_string(request.position)},
                                                   {"columns", "gate, sharpness, divergence"}};
    return {
        {probe::make_field(numbers, {"channels", "", {rows.axis, "number"}, notes}, context.step)}};
}

}  // namespace

ProbeRoom channels_probe() {
    return {.info = {"channels", "gate, sharpness and divergence of a target's channels"},
            .options = {{"reduce", {"gate", "mean"}, "gate"}},
            .needs = ProbeNeeds::input,
            .run = run};
}

}  // namespace aft
