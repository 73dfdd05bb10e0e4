// Dense AFT as everybody writes it, in its best form: exp(w) [T, T] is cached, numerator and
// denominator are one matrix product [T, T] x [T, B 2 d], the maximum of K over the sequence is
// taken out (it cancels). Cost 4 B d T^2 FLOP and T^2 numbers whatever the window.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

at::Tensor exp_bias(const Problem& problem, const ops::Inputs& in) {
    at::Tensor w;
    if (problem.kind == ops::OperatorKind::conv2d) {
        const c10::NoGradGuard off;
        w = ops::dense_bias(problem.kind, in, problem.options, in.v.size(1)).to(at::kFloat);
        return w.exp();  // [h, T, T]
    }
    w = in.w.defined() ? in.w : at::mm(in.u, in.r.t());
    const int64_t s = problem.options.window;
    if (problem.kind == ops::OperatorKind::local) w = w.triu(1 - s);
    if (problem.kind == ops::OperatorKind::local && !problem.options.causal) w = w.tril(s - 1);
    const at::Tensor e = w.exp();
    return problem.options.causal ? e.tril() : e;
}

at::Tensor dense(const ops::Inputs& in, const at::Tensor& table) {
    const int64_t B = in.v.size(0), T = in.v.size(1), d = in.v.size(2);
    const at::Tensor x = (in.k - std::get<0>(in.k.max(1, true))).exp();
    const at::Tensor both = at::cat({(x * in.v).transpose(0, 1), x.transpose(0, 1)}, 2);
    const at::Tensor sums = at::mm(table, both.reshape({T, B * 2 * d})).view({T, B, 2 * d});
    const at::Tensor average = sums.narrow(2, 0, d) / sums.narrow(2, d, d);
    return in.q.sigmoid() * average.transpose(0, 1);
}

// Heads share a table: [h, T, T] x [h, T, B (c + 1)], K has one channel per head.
at::Tensor heads(const ops::Inputs& in, const at::Tensor& table) {
    const int64_t B = in.v.size(0), T = in.v.size(1), d = in.v.size(2), h = in.k.size(2);
    const int64_t c = d / h;
    const at::Tensor x = (in.k - std::get<0>(in.k.max(1, true))).exp().unsqueeze(3);
    const at::Tensor both = at::cat({x * in.v.view({B, T, h, c}), x}, 3);  // [B, T, h, c + 1]
    const at::Tensor flat = both.permute({2, 1, 0, 3}).reshape({h, T, B * (c + 1)});
    const at::Tensor sums = at::bmm(table, flat).view({h, T, B, c + 1});
    const at::Tensor average = sums.narrow(3, 0, c) / sums.narrow(3, c, 1);
    return in.q.sigmoid() * average.permute({2, 1, 0, 3}).reshape({B, T, d});
}

std::vector<Form> forms(const Problem& problem) {
    const bool conv = problem.kind == ops::OperatorKind::conv2d;
    if (!conv && problem.kind != ops::OperatorKind::full &&
        problem.kind != ops::OperatorKind::local)
        return {};
    if (conv && problem.backward) return {};
    std::vector<Form> both;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        both.push_back({.name = type == at::kFloat ? "einsum fp32" : "einsum bf16",
                        .group = "einsum",
                        .type = type,
                        .table = [problem](const ops::Inputs& in) { return exp_bias(problem, in); },
                        .forward = conv ? heads : dense,
                        .exact = {}});
    }
    return both;
}

}  // namespace

PeerRoom einsum_peer() {
    return {.info = {"einsum", "dense AFT: cached exp(w) times [exp(K) V, exp(K)], fp32 and bf16"},
            .forms = forms};
}

}  // namespace aft::bench
