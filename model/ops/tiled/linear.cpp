// Baseline: linear attention (Katharopoulos et al. 2020) in O(T d^2): rows in blocks, the blocks
// before them as one state S = sum f(k) [v | 1]. Queries are scaled by their largest feature and
// keys by the sample's largest one; if that leaves a denominator that underflow could have touched,
// the whole call takes the reference path.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/ops/tiled/tiled.h"

namespace aft::ops::tiled {

namespace {

constexpr int64_t kRows = 64;

at::Tensor log_feature(const at::Tensor& x) {
    return at::where(x < 0, x, x.clamp_min(0).log1p());
}

// q, k [B, T, d] features, v1 [B, T, d + 1] = [v | 1] -> [B, T, d + 1] = numerators, denominator
at::Tensor causal_sums(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v1) {
    const int64_t T = q.size(1);
    std::vector<at::Tensor> out;
    at::Tensor state;  // [B, d, d + 1]
    for (int64_t t = 0; t < T; t += kRows) {
        const int64_t rows = std::min(kRows, T - t);
        const at::Tensor qi = q.narrow(1, t, rows), kt = k.narrow(1, t, rows).transpose(1, 2);
        const at::Tensor vi = v1.narrow(1, t, rows);
        at::Tensor sum = at::bmm(at::bmm(qi, kt).tril(), vi);
        if (state.defined()) sum = sum + at::bmm(qi, state);
        out.push_back(sum);
        const at::Tensor block = at::bmm(kt, vi);
        state = state.defined() ? state + block : block;
    }
    return at::cat(out, 1);
}

}  // namespace

at::Tensor linear(const Inputs& in, const Options& options) {
    if (in.v.numel() == 0) return at::zeros_like(in.v);
    const at::Tensor lq = log_feature(in.q), lk = log_feature(in.k);
    const at::Tensor q = (lq - lq.detach().amax(2, true)).exp();
    const at::Tensor k = (lk - lk.detach().amax({1, 2}, true)).exp();
    const int64_t d = in.v.size(2);
    const at::Tensor v1 = at::cat({in.v, at::ones_like(in.v.narrow(2, 0, 1))}, 2);
    const at::Tensor sums =
        options.causal ? causal_sums(q, k, v1) : at::bmm(q, at::bmm(k.transpose(1, 2), v1));
    const at::Tensor D = sums.narrow(2, d, 1), R = sums.narrow(2, 0, d) / D;
    const bool safe = D.detach().amin().item<double>() >= std::ldexp(1.0, -60) &&
                      R.detach().mul(0).sum().item<double>() == 0;
    if (safe) return R;
    const BackendFunctions& exact = functions_of(OperatorBackend::reference);
    return exact.apply(OperatorKind::linear, in, options);
}

}  // namespace aft::ops::tiled
