// Baseline: linear attention (Katharopoulos et al. 2020, Eq. 4-7), feature map f(x) = elu(x) + 1.
//   R[t] = sum_j f(q_t).f(k_j) v_j / sum_j f(q_t).f(k_j)
// f is exp(x) below 0, so it is carried as log f: a row of queries may be scaled freely, and each
// key has its own scale that returns inside the softmax over j.
#include <ATen/ATen.h>

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
    const at::Tensor a = q.amax(-1, true).detach(), b = k.amax(-1, true).detach();
    const at::Tensor products = at::matmul((q - a).exp(), (k - b).exp().transpose(1, 2));
    const at::Tensor scores =
        products.log() + b.transpose(1, 2);  // [B, T, T], up to a row constant
    return at::matmul((options.causal ? hide_future(scores) : scores).softmax(-1),
                      in.v.to(at::kDouble));
}

}  // namespace aft::ops::reference
