// cut: w = 0 at and beyond a distance, as if the layer had been trained with that window. sequence:
// |t - t'| in tokens; grid: the larger of |dy| and |dx| in the picture. Kernels: |offset| in taps.
#include <ATen/ATen.h>

#include "model/interventions/edits.h"

namespace aft {

InterventionRoom cut_intervention();

namespace {

at::Tensor distance_of(const at::Tensor& place) {
    return (place.unsqueeze(1) - place.unsqueeze(0)).abs();
}

// Of the taps of a kernel from the target's.
at::Tensor tap_distance(const BiasEdit& edit) {
    const int64_t s = edit.w.size(-1);
    const bool ends_at_target =
        edit.traits.bias == BiasLayout::kernel_1d && edit.is_causal && !edit.traits.is_centred;
    const at::Tensor along = (at::arange(s, at::kLong) - (ends_at_target ? s - 1 : s / 2)).abs();
    if (edit.traits.bias == BiasLayout::kernel_1d) return along;
    return at::maximum(along.unsqueeze(1), along.unsqueeze(0));
}

at::Tensor token_distance(const BiasEdit& edit) {
    const at::Tensor place = at::arange(edit.w.size(-1), at::kLong);
    if (edit.values.text("metric") == "sequence") return distance_of(place);
    const at::Tensor pixel = at::floor_divide(place, edit.channels);
    return at::maximum(distance_of(at::floor_divide(pixel, edit.width)),
                       distance_of(pixel.remainder(edit.width)));
}

at::Tensor cut(const BiasEdit& edit) {
    const int64_t reach = edit.values.whole("distance");
    if (!edit.traits.has_kernel()) require_matrix(edit, "a band that is stored alone stays whole");
    const at::Tensor distance =
        edit.traits.has_kernel() ? tap_distance(edit) : token_distance(edit);
    return at::where(distance < reach, edit.w, 0.0F);
}

}  // namespace

InterventionRoom cut_intervention() {
    return {{.info = {"cut", "Removes the position bias beyond a distance, as a smaller window."},
             .formula = "w[t,t'] \u2192 0 where |t \u2212 t'| \u2265 distance",
             .options = {{.key = "distance",
                          .help = "Distance from which on w is 0: tokens, pixels or taps.",
                          .standard = "16",
                          .min = 0,
                          .max = 1 << 20},
                         {.key = "metric",
                          .help = "How far a source is: along the sequence, or in the picture.",
                          .standard = "sequence",
                          .choices = {"sequence", "grid"}}}},
            cut};
}

}  // namespace aft
