// What all AFT operators share (Zhai et al. 2021, Eq. 2): with z = w[t,j] + K[j,c],
//   R[t,c] = sum_j exp(z) V[j,c] / sum_j exp(z)   over the visible j.
#include <ATen/ATen.h>

#include <limits>

#include "model/ops/autograd.h"
#include "model/ops/common/groups.h"
#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

at::Tensor hide_future(const at::Tensor& bias) {
    const int64_t T = bias.size(-1);
    const at::Tensor future = at::ones({T, T}, bias.options().dtype(at::kBool)).triu(1);
    return bias.masked_fill(future, -std::numeric_limits<double>::infinity());
}

at::Tensor average(OperatorKind kind, const at::Tensor& bias, const Inputs& in, bool causal) {
    const Grouped x = to_groups(kind, in.k.to(at::kDouble), in.v.to(at::kDouble));
    const at::Tensor visible = causal ? hide_future(bias) : bias;
    return from_groups(exact_attend(visible, x.keys, x.values, causal), in.v);
}

}  // namespace aft::ops::reference
