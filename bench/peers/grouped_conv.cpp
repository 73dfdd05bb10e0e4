// AFT-conv as Eq. 6 writes it: a grouped convolution with exp(w) - 1 plus the sum over all
// positions, for exp(K) V and exp(K). The weights are cached; channels last, which is fastest here.
#include <ATen/ATen.h>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

// [h + d, 1, s, s]: heads for exp(K), channels for exp(K) V.
at::Tensor taps(const ops::Inputs& in) {
    const at::Tensor e = at::expm1(in.w).unsqueeze(1);
    const int64_t c = in.v.size(2) / in.w.size(0);
    return at::cat({e.repeat_interleave(c, 0), e}, 0);
}

at::Tensor convolved(const Problem& problem, const ops::Inputs& in, const at::Tensor& taps) {
    const int64_t B = in.v.size(0), T = in.v.size(1), d = in.v.size(2), h = in.k.size(2);
    const at::Tensor x = (in.k - std::get<0>(in.k.max(1, true))).exp();
    const at::Tensor weighted = (x.unsqueeze(3) * in.v.view({B, T, h, d / h})).view({B, T, d});
    const at::Tensor both = at::cat({weighted, x}, 2);  // [B, T, d + h]
    const at::Tensor image =
        both.view({B, problem.options.grid_height, problem.options.grid_width, d + h})
            .permute({0, 3, 1, 2});
    const int64_t half = in.w.size(1) / 2;
    const at::Tensor near = at::conv2d(image, taps, {}, 1, half, 1, d + h);
    const at::Tensor sums = near.permute({0, 2, 3, 1}).reshape({B, T, d + h}) + both.sum(1, true);
    const at::Tensor n = sums.narrow(2, 0, d).view({B, T, h, d / h});
    const at::Tensor average = n / sums.narrow(2, d, h).unsqueeze(3);
    return in.q.sigmoid() * average.reshape({B, T, d});
}

std::vector<Form> forms(const Problem& problem) {
    if (problem.kind != ops::OperatorKind::conv2d) return {};
    return {
        {.name = "grouped conv2d fp32",
         .group = "conv2d",
         .type = at::kFloat,
         .table = taps,
         .forward = [problem](const ops::Inputs& in,
                              const at::Tensor& table) { return convolved(problem, in, table); },
         .exact = {}}};
}

}  // namespace

PeerRoom grouped_conv_peer() {
    return {
        .info = {"grouped conv2d", "AFT-conv as Eq. 6 writes it: grouped convolution plus sums"},
        .forms = forms};
}

}  // namespace aft::bench
