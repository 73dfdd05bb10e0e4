// attention: the implicit attention of one target t (Zhai et al. 2021, Eq. 3 without its gate),
//   a[t,j,c] = exp(K[j,c] + w[t,j]) / sum_j' exp(K[j',c] + w[t,j'])     rows sum to 1,
// [d, T] for all channels, or their mean. prior: K = 0, content: w = 0. For softmax attention one
// row per head. Cost O(T d) beside one forward pass, which is kept for the next target.
#include <ATen/ATen.h>

#include <cmath>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom attention_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ProbeRoom room = attention_probe();
    const std::string part = probe::option(room, request, "part");
    const std::string reduce = probe::option(room, request, "reduce");
    const bool mark = probe::option(room, request, "visible") == "nan";
    const probe::ShareRows rows = probe::share_rows(context, request, part);
    at::Tensor shown = probe::reduced(rows, reduce);
    if (mark) shown = at::where(rows.visible, shown, std::nan(""));

    const std::map<std::string, std::string> notes{
        {"part", part}, {"reduce", reduce}, {"position", std::to_string(request.position)}};
    const auto field = [&](const char* name, const at::Tensor& values, const char* unit,
                           std::vector<std::string> axes) {
        return probe::make_field(values, {name, unit, std::move(axes), notes}, context.step);
    };
    return {{field("attention", shown, "share", {rows.axis, "source"}),
             field("gate", rows.gate, "", {rows.axis}),
             field("entropy", probe::entropy_bits(rows), "bits", {rows.axis}),
             field("sharpness", probe::sharpness(rows), "", {rows.axis}),
             field("channel", rows.index, "", {rows.axis})}};
}

}  // namespace

ProbeRoom attention_probe() {
    return {.info = {"attention", "implicit attention of one target over its sources, per channel"},
            .options = {{"part", {"prior", "content", "both"}, "both"},
                        {"reduce", {"gate", "mean", "none"}, "none"},
                        {"visible", {"all", "nan"}, "all"}},
            .needs = ProbeNeeds::input,
            .folds_sources = true,
            .run = run};
}

}  // namespace aft
