// zero: w = 0, as if the position bias had never been learned: every visible source counts alike
// beside its key. Where a row's constant is free, 0 is one of many equal choices.
#include <ATen/ATen.h>

#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom zero_intervention();

namespace {

at::Tensor zero(const BiasEdit& edit) {
    return at::zeros_like(edit.w);
}

}  // namespace

InterventionRoom zero_intervention() {
    return {{.info = {"zero", "Takes the position bias away: w = 0."},
             .formula = "w[t,t'] \u2192 0",
             .options = {}},
            zero};
}

}  // namespace aft
