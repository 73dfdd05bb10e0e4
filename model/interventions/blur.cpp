// blur: a Gaussian mean of w over neighbouring places: of a picture along its rows and columns
// within one colour channel, of a text along the sequence, of a kernel over its taps. Only cells
// that have a parameter and are visible take part, with weights that sum to 1 over them. Cost: two
// products of T x T with the sides of the grid (a text: T^3).
#include <ATen/ATen.h>

#include "model/interventions/edits.h"

namespace aft {

InterventionRoom blur_intervention();

namespace {

// exp(-(i-j)^2 / 2 sigma^2), [n, n]
at::Tensor gaussian(int64_t n, double sigma) {
    const at::Tensor x = at::arange(n, at::kFloat);
    return (-(x.unsqueeze(0) - x.unsqueeze(1)).square() / (2 * sigma * sigma)).exp();
}

struct GridSides {
    int64_t height, width, channels;
};

// The last dimension of x is on the grid.
at::Tensor spread(const at::Tensor& x, const GridSides& grid, double sigma) {
    const at::Tensor parts =
        x.reshape({-1, grid.height, grid.width, grid.channels}).permute({0, 3, 1, 2});
    const at::Tensor along_rows = at::matmul(parts, gaussian(grid.width, sigma));
    const at::Tensor both = at::matmul(gaussian(grid.height, sigma), along_rows);
    return both.permute({0, 2, 3, 1}).reshape(x.sizes());
}

at::Tensor blur_sources(const at::Tensor& w, const at::Tensor& inside, const GridSides& grid,
                        double sigma) {
    const at::Tensor counted = inside.to(at::kFloat);
    const at::Tensor seen = at::where(inside & w.isneginf().logical_not(), w, 0.0F);
    return spread(seen, grid, sigma) / spread(counted, grid, sigma).clamp_min(1e-30);
}

at::Tensor blur(const BiasEdit& edit) {
    const double sigma = edit.values.real("sigma");
    const std::string axis = edit.values.text("axis");
    if (edit.traits.has_kernel()) {
        const bool is_flat = edit.traits.bias == BiasLayout::kernel_1d;
        const int64_t s = edit.w.size(-1);
        const at::Tensor w = edit.w.flatten(1), inside = edit.inside.flatten();
        return blur_sources(w, inside, {is_flat ? 1 : s, s, 1}, sigma).view(edit.w.sizes());
    }
    require_matrix(edit, "a band that is stored alone cannot be blurred");
    const GridSides grid{edit.height, edit.width, edit.channels};
    at::Tensor w = edit.w;
    if (axis != "target") w = blur_sources(w, edit.inside, grid, sigma);
    if (axis != "source")
        w = blur_sources(w.transpose(1, 2), edit.inside.t(), grid, sigma).transpose(1, 2);
    return w.contiguous();
}

}  // namespace

InterventionRoom blur_intervention() {
    return {{.info = {"blur", "Takes a Gaussian mean of w over neighbouring places."},
             .formula = "w \u2192 \u03A3 g(\u03C3) w / \u03A3 g(\u03C3), over visible parameters",
             .options = {{.key = "sigma",
                          .help = "Standard deviation of the Gaussian in places or taps.",
                          .standard = "1",
                          .min = 0.1,
                          .max = 1000,
                          .is_real = true},
                         {.key = "axis",
                          .help = "What is averaged over: sources, targets, or one after the "
                                  "other. Kernels: all taps.",
                          .standard = "source",
                          .choices = {"source", "target", "both"}}}},
            blur};
}

}  // namespace aft
