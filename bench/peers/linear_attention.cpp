// Causal linear attention in its chunked form, all chunks at once (Katharopoulos et al. 2020, Eq. 9
// with elu + 1): inside a chunk the masked product of all pairs, before it the sum of the states.
//   Y[t] = phi(Q[t]) sum_j phi(K[j]) V[j]^T / (phi(Q[t]) sum_j phi(K[j])),  j <= t
#include <ATen/ATen.h>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

constexpr int64_t kChunk = 128, kWidth = 64;

at::Tensor features(const at::Tensor& x) {
    return at::elu(x) + 1;
}

// Chunks of equal length: [B, T, d] -> [B, T / n, h, n, c]
at::Tensor in_chunks(const at::Tensor& x, int64_t n) {
    const int64_t c = std::min(kWidth, x.size(2));
    return x.view({x.size(0), x.size(1) / n, n, x.size(2) / c, c}).transpose(2, 3);
}

at::Tensor attended(const ops::Inputs& in, int64_t chunk) {
    const int64_t n = std::min(chunk, in.v.size(1));
    const at::Tensor q = features(in_chunks(in.q, n)), k = features(in_chunks(in.k, n));
    const at::Tensor v = at::cat({in_chunks(in.v, n), at::ones_like(k.narrow(4, 0, 1))}, 4);
    const at::Tensor states = at::matmul(k.transpose(3, 4), v);  // [B, N, h, c, c + 1]
    const at::Tensor before = states.cumsum(1) - states;
    const at::Tensor inside = at::matmul(at::matmul(q, k.transpose(3, 4)).tril(), v);
    const at::Tensor sums = inside + at::matmul(q, before);
    const int64_t c = q.size(4);
    const at::Tensor y = sums.narrow(4, 0, c) / sums.narrow(4, c, 1);
    return y.transpose(2, 3).reshape(in.v.sizes());
}

std::vector<Form> forms(const Problem& problem) {
    if (problem.kind != ops::OperatorKind::linear || problem.backward) return {};
    if (problem.in.v.size(1) % std::min(kChunk, problem.in.v.size(1)) != 0) return {};
    return {
        {.name = "linear attention fp32",
         .group = "linear attention",
         .type = at::kFloat,
         .table = {},
         .forward = [](const ops::Inputs& in, const at::Tensor&) { return attended(in, kChunk); },
         .exact = {}}};
}

}  // namespace

PeerRoom linear_attention_peer() {
    return {.info = {"linear attention", "causal linear attention, all chunks at once"},
            .forms = forms};
}

}  // namespace aft::bench
