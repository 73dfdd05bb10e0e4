// kernel: the learned position kernel of a conv layer after any reparameterisation, [h, s] or
// [h, s, s]; last causal tap of conv1d = the current token. also=w: a second field `w` of the same
// taps.
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom kernel_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const Mixer& mixer = context.net.mixer(request.layer);
    const MixerTraits traits = mixer_traits(context.net.config(), request.layer);
    if (!traits.has_kernel())
        fail_usage("layer {} is {}: it has no kernel over offsets", request.layer,
                   context.net.config().mixer);
    const std::string quantity = probe::option(kernel_probe(), request, "quantity");
    const std::optional<at::Tensor> stored = mixer.bias(context.net.config().tokens());
    AFT_CHECK(stored.has_value(), "layer {} does not show its kernel", request.layer);
    at::Tensor w = stored->detach().to(at::kCPU, at::kDouble);
    if (traits.has_masks)  // hidden, as in the probe bias
        w = at::where(w.eq(-std::numeric_limits<double>::infinity()), std::nan(""), w);
    probe::FieldText text;
    text.name = "kernel";
    text.unit = quantity == "w" ? "nats" : "";
    text.axes = traits.bias == BiasLayout::kernel_1d ? std::vector<std::string>{"head", "tap"}
                                                     : std::vector<std::string>{"head", "y", "x"};
    text.notes = {{"quantity", quantity}};
    if (request.head >= 0) {
        probe::check_range("head", request.head, w.size(0));
        w = w.slice(0, request.head, request.head + 1);
    }
    const at::Tensor values = quantity == "exp" ? w.exp() : quantity == "exp-1" ? w.expm1() : w;
    FieldSet out{{probe::make_field(values, text, context.step)}};
    if (probe::option(kernel_probe(), request, "also") == "w") {
        text.name = "w";
        text.unit = "nats";
        text.notes = {{"quantity", "w"}};
        out.fields.push_back(probe::make_field(w, std::move(text), context.step));
    }
    return out;
}

}  // namespace

ProbeRoom kernel_probe() {
    return {.info = {"kernel", "learned position kernel of a conv layer, per head"},
            .options = {{"quantity", {"w", "exp-1", "exp"}, "w"}, {"also", {"none", "w"}, "none"}},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
