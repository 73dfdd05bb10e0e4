// set: one value of w at a target and a source; of kernels at a row and a column of taps, or a tap.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/interventions/edits.h"

namespace aft {

InterventionRoom set_intervention();

namespace {

at::Tensor set_value(const BiasEdit& edit) {
    const int64_t target = edit.values.whole("target"), source = edit.values.whole("source");
    const bool has_targets = edit.w.dim() == 3;
    if (has_targets && target >= edit.w.size(1))
        fail_usage("target: found {}, allowed: 0 to {}", target, edit.w.size(1) - 1);
    if (source >= edit.w.size(-1))
        fail_usage("source: found {}, allowed: 0 to {}", source, edit.w.size(-1) - 1);
    at::Tensor w = edit.w.clone();
    const at::Tensor cells = has_targets ? w.select(1, target) : w;
    const at::Tensor inside = has_targets ? edit.inside[target] : edit.inside;
    if (!inside[source].item<bool>())
        fail_usage("target {}, source {}: this cell is hidden or has no parameter", target, source);
    cells.select(1, source).fill_(edit.values.real("value"));
    return w;
}

}  // namespace

InterventionRoom set_intervention() {
    return {{.info = {"set", "Gives one target and source another value."},
             .formula = "w[t,t'] \u2192 value",
             .options = {{.key = "target",
                          .help = "Target (row; kernels over pictures: row of taps).",
                          .standard = "0",
                          .min = 0,
                          .max = 1 << 20},
                         {.key = "source",
                          .help = "Source (column; kernels: tap).",
                          .standard = "0",
                          .min = 0,
                          .max = 1 << 20},
                         {.key = "value",
                          .help = "The new w, nats.",
                          .standard = "0",
                          .min = -1000,
                          .max = 1000,
                          .is_real = true}}},
            set_value};
}

}  // namespace aft
