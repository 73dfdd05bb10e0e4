// top-k: of each target's biases the k of largest magnitude stay, the others become 0; of a kernel
// the k largest taps of each head.
#include <ATen/ATen.h>

#include <algorithm>

#include "model/interventions/edits.h"

namespace aft {

InterventionRoom top_k_intervention();

namespace {

at::Tensor top_k(const BiasEdit& edit) {
    const bool is_kernel = edit.traits.has_kernel();
    const at::Tensor w = of_inside(edit);
    const at::Tensor rows = is_kernel ? w.flatten(1) : w;
    const int64_t k = std::min(edit.values.whole("keep"), rows.size(-1));
    const at::Tensor largest = std::get<1>(rows.abs().topk(k, -1));
    const at::Tensor kept = at::zeros_like(rows, at::kBool).scatter_(-1, largest, true);
    return at::where(kept, rows, 0.0F).view(edit.w.sizes());
}

}  // namespace

InterventionRoom top_k_intervention() {
    return {{.info = {"top-k", "Keeps the k largest biases of each target, or taps of each head."},
             .formula = "w \u2192 w where |w| is among the k largest, else 0",
             .options = {{.key = "keep",
                          .help = "How many biases of a target, or taps of a head, stay.",
                          .standard = "8",
                          .min = 0,
                          .max = 1 << 20}}},
            top_k};
}

}  // namespace aft
