// translation: the mean of w over all pairs of target and source at the same offset, which is the
// nearest w that a convolution could have. On a picture the offset is (dy, dx) for each pair of
// colour channels, in a text t - t'. Cost: O(T^2), with 8 T^2 bytes for the offsets.
#include <ATen/ATen.h>

#include "model/interventions/edits.h"

namespace aft {

InterventionRoom translation_intervention();

namespace {

// One number for each offset, [T, T].
at::Tensor offsets(const BiasEdit& edit) {
    const int64_t H = edit.height, W = edit.width, C = edit.channels;
    const at::Tensor place = at::arange(H * W * C, at::kLong);
    const at::Tensor c = place.remainder(C), pixel = at::floor_divide(place, C);
    const at::Tensor x = pixel.remainder(W), y = at::floor_divide(pixel, W);
    const auto from = [](const at::Tensor& of) { return of.unsqueeze(1) - of.unsqueeze(0); };
    const at::Tensor key = (from(y) + H - 1) * (2 * W - 1) + from(x) + W - 1;
    return (key * C + c.unsqueeze(1)) * C + c.unsqueeze(0);
}

at::Tensor translation(const BiasEdit& edit) {
    require_matrix(edit, "its bias depends on the offset alone already");
    const at::Tensor key = at::where(edit.inside, offsets(edit), 0).flatten();
    const at::Tensor counted = edit.inside.flatten().to(at::kDouble);
    const at::Tensor pairs = at::bincount(key, counted).clamp_min(1);
    std::vector<at::Tensor> heads;
    for (const at::Tensor& one : of_inside(edit).unbind(0)) {
        const at::Tensor mean = at::bincount(key, one.flatten().to(at::kDouble)) / pairs;
        heads.push_back(mean.index_select(0, key).view(one.sizes()).to(at::kFloat));
    }
    return at::stack(heads);
}

}  // namespace

InterventionRoom translation_intervention() {
    return {{.info = {"translation", "Takes the mean of w over all pairs at the same offset."},
             .formula = "w[t,t'] \u2192 mean of w at the offset t \u2212 t'",
             .options = {}},
            translation};
}

}  // namespace aft
