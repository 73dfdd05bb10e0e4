// Baseline: attention with one head, Eq. 1, scale 1/sqrt(d). The query has no gate.
#include <ATen/ATen.h>

#include <cmath>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

at::Tensor softmax(const Inputs& in, const Options& options) {
    const at::Tensor q = in.q.to(at::kDouble), k = in.k.to(at::kDouble), v = in.v.to(at::kDouble);
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
    const at::Tensor scores = at::matmul(q, k.transpose(1, 2)) * scale;  // [B, T, T]
    return at::matmul((options.causal ? hide_future(scores) : scores).softmax(-1), v);
}

}  // namespace aft::ops::reference
