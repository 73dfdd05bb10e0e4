// Baseline: linear attention (Katharopoulos et al. 2020, Eq. 4-7), feature map f(x) = elu(x) + 1.
//   R[t] = sum_j f(q_t).f(k_j) v_j / sum_j f(q_t).f(k_j)
// f(x) is exp(x) below 0 and would underflow, so all of it stays in log space:
//   L[t,j] = log sum_c exp(log f(q_t,c) + log f(k_j,c)),  R[t] = sum_j softmax_j(L) v_j
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "model/ops/reference/reference.h"

namespace aft::ops::reference {

namespace {

constexpr int64_t kPieceElements = 1 << 19;

// log(elu(x) + 1) = x below 0, log(1 + x) above
at::Tensor log_feature(const at::Tensor& x) {
    return at::where(x < 0, x, x.clamp_min(0).log1p());
}

// Calls f(sample, row, z) with z [T, d] = log f(q_row) + log f(k), several rows at a time [R, T,
// d].
template <class F>
void for_pieces(const at::Tensor& q, const at::Tensor& k, F f) {
    const int64_t T = q.size(1), per_row = std::max<int64_t>(1, T * q.size(2));
    const int64_t step = std::max<int64_t>(1, kPieceElements / per_row);
    for (int64_t b = 0; b < q.size(0); ++b)
        for (int64_t t = 0; t < T; t += step) {
            const int64_t rows = std::min(step, T - t);
            f(b, t, q[b].narrow(0, t, rows).unsqueeze(1) + k[b].unsqueeze(0));
        }
}

// q, k [B, T, d] log features -> L [B, T, T]
class LogProducts : public torch::autograd::Function<LogProducts> {
  public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& q,
                              const at::Tensor& k) {
        context->save_for_backward({q, k});
        at::Tensor out = at::empty({q.size(0), q.size(1), q.size(1)}, q.options());
        for_pieces(q, k, [&](int64_t b, int64_t t, const at::Tensor& z) {
            out[b].narrow(0, t, z.size(0)).copy_(z.logsumexp(2));
        });
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        at::Tensor dq = at::zeros_like(saved[0]), dk = at::zeros_like(saved[1]);
        for_pieces(saved[0], saved[1], [&](int64_t b, int64_t t, const at::Tensor& z) {
            const at::Tensor dL = gradients[0][b].narrow(0, t, z.size(0)).unsqueeze(2);
            const at::Tensor dz = z.softmax(2) * dL;  // [R, T, d]
            dq[b].narrow(0, t, z.size(0)).copy_(dz.sum(1));
            dk[b].add_(dz.sum(0));
        });
        return {dq, dk};
    }
};

}  // namespace

at::Tensor linear(const Inputs& in, const Options& options) {
    const at::Tensor q = log_feature(in.q.to(at::kDouble)), k = log_feature(in.k.to(at::kDouble));
    const at::Tensor L = LogProducts::apply(q, k);
    return at::matmul((options.causal ? hide_future(L) : L).softmax(-1), in.v.to(at::kDouble));
}

}  // namespace aft::ops::reference
