// AFT-local, Eq. 4: w[t,j] where |t - j| < s, and 0 outside: those sources still count.
// outside_hidden (the paper's ablation without global connectivity): -inf outside.
#include <ATen/ATen.h>

#include <limits>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

at::Tensor local_bias(const Inputs& in, const Options& options) {
    const at::Tensor w = full_bias(in);
    const at::Tensor t = at::arange(w.size(1), w.options().dtype(at::kLong));
    const at::Tensor outside = (t.unsqueeze(1) - t.unsqueeze(0)).abs() >= options.window;
    return w.masked_fill(outside,
                         options.outside_hidden ? -std::numeric_limits<double>::infinity() : 0.0);
}

at::Tensor local(const Inputs& in, const Options& options) {
    if (options.window == 0) return simple(in, options);
    return average(OperatorKind::local, local_bias(in, options), in, options.causal);
}

}  // namespace aft::ops::reference
