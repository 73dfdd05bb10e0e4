// symmetrise: the mean of w and its mirror image, w[t,t'] and w[t',t]; of a kernel the taps at an
// offset and its opposite. Not for causal layers: there one of the two is always hidden.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/interventions/edits.h"

namespace aft {

InterventionRoom symmetrise_intervention();

namespace {

at::Tensor symmetrise(const BiasEdit& edit) {
    if (edit.is_causal)
        fail_usage("layer {} is causal: of w[t,t'] and w[t',t] one is hidden", edit.layer);
    if (edit.traits.has_kernel()) {
        const std::vector<int64_t> axes =
            edit.w.dim() == 2 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2};
        return (edit.w + edit.w.flip(axes)) / 2;
    }
    require_matrix(edit, "a band that is stored alone cannot be mirrored");
    return (edit.w + edit.w.transpose(1, 2)) / 2;
}

}  // namespace

InterventionRoom symmetrise_intervention() {
    return {{.info = {"symmetrise", "Takes the mean of w and its mirror image."},
             .formula = "w[t,t'] \u2192 (w[t,t'] + w[t',t]) / 2",
             .options = {}},
            symmetrise};
}

}  // namespace aft
