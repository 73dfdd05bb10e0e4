// AFT-full, Eq. 2, with w [T, T] or its factors w = u r^T (Eq. 7).
#include <ATen/ATen.h>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

at::Tensor full_bias(const Inputs& in) {
    const at::Tensor w = in.w.defined()
                             ? in.w.to(at::kDouble)
                             : at::matmul(in.u.to(at::kDouble), in.r.to(at::kDouble).t());
    return w.unsqueeze(0);
}

at::Tensor full(const Inputs& in, const Options& options) {
    return average(OperatorKind::full, full_bias(in), in, options.causal);
}

}  // namespace aft::ops::reference
