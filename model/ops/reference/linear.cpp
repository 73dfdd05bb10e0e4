// Baseline: linear attention (Katharopoulos et al. 2020, Eq. 4-7), feature map f(x) = elu(x) + 1.
//   R[t] = sum_j f(q_t).f(k_j) v_j / sum_j f(q_t).f(k_j)
// f(x) is exp(x) below 0 and would underflow, so all of it stays in log space:
//   L[t,j] = log sum_c exp(log f(q_t,c) + log f(k_j,c)),  R[t] = sum_j softmax_j(L) v_j
#include <ATen/ATen.h>

#include "model/ops/autograd.h"
#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

namespace {

// log(elu(x) + 1) = x below 0, log(1 + x) above
at::Tensor log_feature(const at::Tensor& x) {
    return at::where(x < 0, x, x.clamp_min(0).log1p());
}

}  // namespace

at::Tensor linear(const Inputs& in, const Options& options) {
    const at::Tensor q = log_feature(in.q.to(at::kDouble)), k = log_feature(in.k.to(at::kDouble));
    const at::Tensor L = log_products(q, k);
    return at::matmul((options.causal ? hide_future(L) : L).softmax(-1), in.v.to(at::kDouble));
}

}  // namespace aft::ops::reference
