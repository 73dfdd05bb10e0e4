// scale: the position bias times a factor; 0 removes it, -1 turns it over.
#include <ATen/ATen.h>

#include "model/interventions/intervention.h"

namespace aft {

InterventionRoom scale_intervention();

namespace {

at::Tensor scale(const BiasEdit& edit) {
    return edit.w * edit.values.real("factor");
}

}  // namespace

InterventionRoom scale_intervention() {
    return {{.info = {"scale", "Multiplies the position bias by a factor."},
             .formula = "w \u2192 factor \u00B7 w",
             .options = {{.key = "factor",
                          .help = "What w is multiplied by.",
                          .standard = "0.5",
                          .min = -100,
                          .max = 100,
                          .is_real = true}}},
            scale};
}

}  // namespace aft
