// shuffle: the biases of each target in another order over its visible sources; of a kernel the
// taps of each head. A control: the same values, without their places.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "model/interventions/edits.h"

namespace aft {

InterventionRoom shuffle_intervention();

namespace {

at::Tensor shuffle(const BiasEdit& edit) {
    const bool is_kernel = edit.traits.has_kernel();
    const at::Tensor rows = is_kernel ? edit.w.flatten(1).unsqueeze(1) : edit.w;  // [h, n, m]
    const at::Tensor inside = is_kernel ? edit.inside.view({1, -1}) : edit.inside;
    const auto generator =
        at::detail::createCPUGenerator(static_cast<uint64_t>(edit.values.whole("seed")));
    // Visible cells first, in their own order and in a random one: the i-th of one goes to the
    // i-th of the other.
    const at::Tensor hidden = inside.logical_not().to(at::kFloat).mul(2);
    const at::Tensor to = hidden.argsort(true, -1, false).expand(rows.sizes());
    const at::Tensor from =
        (at::rand(rows.sizes(), generator, at::TensorOptions().dtype(at::kFloat)) + hidden)
            .argsort(-1, false);
    return rows.clone().scatter_(2, to, rows.gather(2, from)).view(edit.w.sizes());
}

}  // namespace

InterventionRoom shuffle_intervention() {
    return {{.info = {"shuffle", "Puts each target's biases in a random order: a control."},
             .formula = "w[t,t'] \u2192 w[t,\u03C0(t')]",
             .options = {{.key = "seed",
                          .help = "Seed of the order.",
                          .standard = "1",
                          .min = 0,
                          .max = 1e9}}},
            shuffle};
}

}  // namespace aft
