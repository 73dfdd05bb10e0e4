// AFT-simple, Eq. 5: w = 0.
//   R[t,c] = sum_j exp(K[j,c]) V[j,c] / sum_j exp(K[j,c])
#include <ATen/ATen.h>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

at::Tensor simple(const Inputs& in, const Options& options) {
    const int64_t T = in.k.size(1);
    const at::Tensor zero = at::zeros({1, T, T}, in.k.options().dtype(at::kDouble));
    return average(OperatorKind::simple, zero, in, options.causal);
}

}  // namespace aft::ops::reference
