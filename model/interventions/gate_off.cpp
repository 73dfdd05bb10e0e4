// gate-off: the query gate lets everything through: sigmoid(Q) = 1, by weights of 0 and a bias of
// 40, whose sigmoid is 1 in float32.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom gate_off_intervention();

namespace {

constexpr double kOpen = 40;

void open_gate(const WeightEdit& edit) {
    const MixerTraits traits = mixer_traits(edit.net.config(), edit.layer);
    if (!traits.has_gate)
        fail_usage("layer {} is {}: {}", edit.layer, traits.words,
                   traits.no_gate.empty() ? "it has no gate" : traits.no_gate);
    at::Tensor weight = edit.weight("mixer.q.weight"), bias = edit.weight("mixer.q.bias");
    if (!weight.defined() || !bias.defined())
        fail_usage("layer {}: its query projection has no bias, the gate cannot be held open",
                   edit.layer);
    weight.zero_();
    bias.fill_(kOpen);
}

}  // namespace

InterventionRoom gate_off_intervention() {
    return {{.info = {"gate-off", "Holds the query gate open: sigmoid(Q) = 1."},
             .formula = "sigmoid(Q) \u2192 1",
             .options = {},
             .edits_bias = false,
             .has_strength = false,
             .has_heads = false},
            nullptr,
            open_gate};
}

}  // namespace aft
