// gates: sigmoid(Q), what each position lets through, [T, d].
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom gates_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ops::Kind kind = context.net.mixer(request.layer).kind();
    if (kind == ops::Kind::softmax || kind == ops::Kind::linear)
        fail_usage("layer {} is {}: it has no gate", request.layer, context.net.config().mixer);
    if (!context.net.config().query_gate)
        fail_usage("this model has no gate (model.query_gate is off)");
    const LayerTaps& taps = context.kept.of(context.net, request.tokens, request.layer);
    at::Tensor gate = taps.q.to(at::kDouble).sigmoid();
    if (request.channel >= 0) {
        probe::check_range("channel", request.channel, gate.size(1));
        gate = gate.slice(1, request.channel, request.channel + 1);
    }
    return {{probe::make_field(gate, {"gates", "", {"target", "channel"}, {}}, context.step)}};
}

}  // namespace

ProbeRoom gates_probe() {
    return {{"gates", "sigmoid(Q) of a layer, every position and channel"}, {}, true, run};
}

}  // namespace aft
