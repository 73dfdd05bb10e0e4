// gates: sigmoid(Q), what each position lets through, [T, d].
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom gates_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const MixerTraits traits = mixer_traits(context.net.config());
    const LayerTaps& taps = probe::layer_taps(context, request, traits.has_gate, traits.no_gate);
    at::Tensor gate = context.net.mixer(request.layer).gates(taps);
    if (request.channel >= 0) {
        probe::check_range("channel", request.channel, gate.size(1));
        gate = gate.slice(1, request.channel, request.channel + 1);
    }
    return {{probe::make_field(gate, {"gates", "", {"target", "channel"}, {}}, context.step)}};
}

}  // namespace

ProbeRoom gates_probe() {
    return {.info = {"gates", "sigmoid(Q) of a layer, every position and channel"},
            .options = {},
            .needs = ProbeNeeds::input,
            .run = run};
}

}  // namespace aft
