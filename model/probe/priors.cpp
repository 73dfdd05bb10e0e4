// priors: how much of one target's row the position bias alone gives, layer by layer:
//   sum over sources j of min(prior[t,j], both[t,j])
// with both rows reduced over the channels in the same way; 1 = the keys move nothing, 0 = they
// move everything. Softmax and linear attention have no position bias.
// Cost: one forward pass, which is kept, and O(T d) a layer.
#include <ATen/ATen.h>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom priors_probe();

namespace {

double prior_share(const ProbeContext& context, const ProbeRequest& request,
                   const std::string& reduce) {
    const MixerTraits traits = mixer_traits(context.net.config());
    if (!traits.has_prior())
        fail_usage("{} layers have no position bias: there is no prior share",
                   context.net.config().mixer);
    const auto row = [&](const char* part) {
        return probe::reduced(probe::share_rows(context, request, part), reduce);
    };
    return at::minimum(row("prior"), row("both")).sum().item<double>();
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const std::string reduce = probe::option(priors_probe(), request, "reduce");
    std::vector<double> shares;
    ProbeRequest one = request;
    for (one.layer = 0; one.layer < context.net.config().layers; ++one.layer) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        shares.push_back(prior_share(context, one, reduce));
    }
    const std::map<std::string, std::string> notes{{"reduce", reduce},
                                                   {"position", std::to_string(request.position)}};
    return {{probe::make_field(at::tensor(shares, at::kDouble),
                               {"prior-share", "share", {"layer"}, notes}, context.step)}};
}

}  // namespace

ProbeRoom priors_probe() {
    return {
        .info = {"priors", "the part of a target's row that the position bias gives, per layer"},
        .options = {{"reduce", {"gate", "mean"}, "gate"}},
        .needs = ProbeNeeds::input,
        .run = run};
}

}  // namespace aft
