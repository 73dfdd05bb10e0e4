// key-off: a key channel says nothing: K = 0 for every source, so that its average is by position
// alone.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom key_off_intervention();

namespace {

void turn_key_off(const WeightEdit& edit) {
    const MixerTraits traits = mixer_traits(edit.net.config(), edit.layer);
    at::Tensor weight = edit.weight("mixer.k.weight"), bias = edit.weight("mixer.k.bias");
    if (!traits.has_key_maps || !weight.defined())
        fail_usage("layer {} is {}: {}", edit.layer, traits.words,
                   traits.no_keys.empty() ? "it has no keys" : traits.no_keys);
    const int64_t channel = edit.values.whole("channel"), left = weight.size(0);
    if (channel >= left) fail_usage("channel: found {}, allowed: 0 to {}", channel, left - 1);
    const auto part = [&](at::Tensor& of) {
        if (!of.defined()) return;
        (channel < 0 ? of : of.narrow(0, channel, 1)).mul_(1 - edit.strength);
    };
    part(weight);
    part(bias);
}

}  // namespace

InterventionRoom key_off_intervention() {
    return {{.info = {"key-off", "Silences a key channel: K = 0 for every source."},
             .formula = "K[t',c] \u2192 0",
             .options = {{.key = "channel",
                          .help = "Key channel (aft-conv: head); -1 = all.",
                          .standard = "0",
                          .min = -1,
                          .max = 1 << 20}},
             .edits_bias = false,
             .has_heads = false},
            nullptr,
            turn_key_off};
}

}  // namespace aft
