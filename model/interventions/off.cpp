// off: what a head, or a whole mixer, adds to the residual stream becomes 0 (its columns of the
// output projection). For every mixer that has an output projection, attention too.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom off_intervention();

namespace {

void turn_off(const WeightEdit& edit) {
    at::Tensor weight = edit.weight("mixer.o.weight"), bias = edit.weight("mixer.o.bias");
    if (!weight.defined())
        fail_usage("layer {} has no output projection (model.output_projection is off)",
                   edit.layer);
    const double left = 1 - edit.strength;
    if (edit.head < 0) {
        weight.mul_(left);
        if (bias.defined()) bias.mul_(left);
        return;
    }
    const int64_t width = weight.size(1) / mixer_traits(edit.net.config(), edit.layer).heads;
    weight.narrow(1, edit.head * width, width).mul_(left);
}

}  // namespace

InterventionRoom off_intervention() {
    return {{.info = {"off", "Takes away what a head, or the whole mixer, adds."},
             .formula = "columns of W_o of the head \u2192 0",
             .options = {},
             .edits_bias = false},
            nullptr,
            turn_off};
}

}  // namespace aft
