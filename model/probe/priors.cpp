// priors: how much of one target's row the position bias alone gives, layer by layer:
//   share:      sum over sources j of min(prior[t,j], both[t,j])
//   divergence: sum over sources j of both[t,j] log2(both[t,j] / prior[t,j]), bits
// with both rows reduced over the channels in the same way; share 1 and divergence 0 = the keys
// move nothing, share 0 = they move everything. Softmax and linear attention have no position bias.
// Cost: one forward pass, which is kept, and O(T d) a layer.
#include <ATen/ATen.h>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom priors_probe();

namespace {

struct PriorNumber {
    std::string reduce, number;
};

double prior_number(const ProbeContext& context, const ProbeRequest& request,
                    const PriorNumber& asked) {
    const MixerTraits traits = mixer_traits(context.net.config());
    if (!traits.has_prior())
        fail_usage("{} layers have no position bias: there is no prior share",
                   context.net.config().mixer);
    const auto row = [&](const char* part) {
        return probe::reduced(probe::share_rows(context, request, part), asked.reduce);
    };
    const at::Tensor prior = row("prior"), both = row("both");
    if (asked.number == "divergence") return probe::divergence_bits(both, prior).item<double>();
    return at::minimum(prior, both).sum().item<double>();
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ProbeRoom room = priors_probe();
    const PriorNumber asked{.reduce = probe::option(room, request, "reduce"),
                            .number = probe::option(room, request, "number")};
    std::vector<double> numbers;
    ProbeRequest one = request;
    for (one.layer = 0; one.layer < context.net.config().layers; ++one.layer) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        numbers.push_back(prior_number(context, one, asked));
    }
    const std::map<std::string, std::string> notes{{"reduce", asked.reduce},
                                                   {"position", std::to_string(request.position)}};
    const char* const unit = asked.number == "divergence" ? "bits" : "share";
    return {{probe::make_field(at::tensor(numbers, at::kDouble),
                               {"prior-" + asked.number, unit, {"layer"}, notes}, context.step)}};
}

}  // namespace

ProbeRoom priors_probe() {
    return {
        .info = {"priors", "the part of a target's row that the position bias gives, per layer"},
        .options = {{"reduce", {"gate", "mean"}, "gate"},
                    {"number", {"share", "divergence"}, "share"}},
        .needs = ProbeNeeds::input,
        .run = run};
}

}  // namespace aft
