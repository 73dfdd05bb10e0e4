// AFT-conv, Eq. 6: w depends on the offset only, one kernel per head; 0 outside the kernel, or -inf
// where the outside is hidden (the paper's ablation without global connectivity). Eq. 6
// as printed convolves K; the definition needs exp(K), which the block-Toeplitz bias gives by
// itself.
//   1d: tap o is offset j - t = o - s/2 (causal: o - (s-1), the last tap is the current token)
//   2d: tap (a, b) is offset (a - s/2, b - s/2) in (y, x)
#include <ATen/ATen.h>

#include <limits>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

namespace {

// [T, T]: index into the values of the kernel, and where it is one
struct TapPlaces {
    at::Tensor index, inside;
};

// -> [h, T, T]
at::Tensor spread(const at::Tensor& kernel, const TapPlaces& taps, bool outside_hidden) {
    const int64_t h = kernel.size(0), T = taps.index.size(0);
    const at::Tensor index = taps.index.masked_fill(taps.inside.logical_not(), 0).reshape({-1});
    const at::Tensor w = kernel.to(at::kDouble).reshape({h, -1}).index_select(1, index);
    return w.reshape({h, T, T}).masked_fill(
        taps.inside.logical_not(), outside_hidden ? -std::numeric_limits<double>::infinity() : 0.0);
}

}  // namespace

at::Tensor conv1d_bias(const at::Tensor& kernel, int64_t T, const Options& options) {
    const int64_t s = kernel.size(1);
    const at::Tensor t = at::arange(T, kernel.options().dtype(at::kLong));
    const at::Tensor taps = t.unsqueeze(0) - t.unsqueeze(1) + (options.causal ? s - 1 : s / 2);
    return spread(kernel, {taps, (taps >= 0).logical_and(taps < s)}, options.outside_hidden);
}

at::Tensor conv2d_bias(const at::Tensor& kernel, const Options& options) {
    const int64_t s = kernel.size(1), height = options.grid_height, width = options.grid_width;
    const at::Tensor t = at::arange(height * width, kernel.options().dtype(at::kLong));
    const at::Tensor y = t.div(width, "floor"), x = t.remainder(width);
    const at::Tensor a = y.unsqueeze(0) - y.unsqueeze(1) + s / 2;
    const at::Tensor b = x.unsqueeze(0) - x.unsqueeze(1) + s / 2;
    const at::Tensor inside = (a >= 0).logical_and(a < s).logical_and(b >= 0).logical_and(b < s);
    return spread(kernel, {a * s + b, inside}, options.outside_hidden);
}

at::Tensor conv1d(const Inputs& in, const Options& options) {
    return average(OperatorKind::conv1d, conv1d_bias(in.w, in.k.size(1), options), in,
                   options.causal);
}

at::Tensor conv2d(const Inputs& in, const Options& options) {
    return average(OperatorKind::conv2d, conv2d_bias(in.w, options), in, options.causal);
}

}  // namespace aft::ops::reference
