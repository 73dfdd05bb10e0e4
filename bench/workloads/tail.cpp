// The last rows of a causal problem in float64, from all sources: what long sequences are checked
// with, because the whole of them would take too long.
#include <ATen/ATen.h>

#include "bench/workloads/problem.h"
#include "core/check.h"

namespace aft::bench {
namespace {

struct LastRows {
    int64_t T, rows;
    [[nodiscard]] at::Tensor targets() const { return at::arange(T - rows, T).unsqueeze(1); }
    [[nodiscard]] at::Tensor sources() const { return at::arange(T).unsqueeze(0); }
    [[nodiscard]] at::Tensor future() const { return sources() > targets(); }  // [rows, T]
    [[nodiscard]] at::Tensor of(const at::Tensor& x) const {  // [1, T, n] -> [rows, n]
        return x[0].narrow(0, T - rows, rows).to(at::kDouble);
    }
};

// w of the last rows, [h, rows, T]
at::Tensor bias_rows(const Problem& problem, const LastRows& tail) {
    const ops::Inputs& in = problem.in;
    const at::Tensor away = tail.targets() - tail.sources();
    at::Tensor w = at::zeros({1, tail.rows, tail.T}, at::kDouble);
    if (problem.kind == ops::OperatorKind::local) {
        const at::Tensor u = in.u.narrow(0, tail.T - tail.rows, tail.rows).to(at::kDouble);
        w = at::mm(u, in.r.to(at::kDouble).t()).unsqueeze(0);
        w = w.masked_fill(away >= problem.options.window, 0);
    }
    if (problem.kind == ops::OperatorKind::conv1d) {  // the last tap is the token itself
        const int64_t s = in.w.size(1);
        const at::Tensor tap = (s - 1 - away).clamp(0, s - 1).flatten();
        w = in.w.to(at::kDouble).index_select(1, tap).view({in.w.size(0), tail.rows, tail.T});
        w = w.masked_fill(away >= s, 0);
    }
    return w;
}

at::Tensor aft_rows(const Problem& problem, const LastRows& tail) {
    const ops::Inputs& in = problem.in;
    const at::Tensor e = bias_rows(problem, tail).exp().masked_fill(tail.future(), 0);
    const int64_t h = problem.kind == ops::OperatorKind::conv1d ? e.size(0) : 1;
    const at::Tensor x = in.k[0].to(at::kDouble).exp().view({tail.T, h, -1}).transpose(0, 1);
    const at::Tensor v = in.v[0].to(at::kDouble).view({tail.T, h, -1}).transpose(0, 1);
    const at::Tensor mean = at::matmul(e, x * v) / at::matmul(e, x);  // [h, rows, d / h]
    return tail.of(in.q).sigmoid() * mean.transpose(0, 1).reshape({tail.rows, -1});
}

at::Tensor attention_rows(const Problem& problem, const LastRows& tail) {
    const bool softmax = problem.kind == ops::OperatorKind::softmax;
    const int64_t d = problem.in.v.size(2);
    const int64_t c = softmax ? (d % 128 == 0 ? 128 : d) : std::min<int64_t>(64, d);
    const auto heads = [&](const at::Tensor& x) {  // [n, d] -> [h, n, c]
        return x.view({x.size(0), d / c, c}).transpose(0, 1);
    };
    at::Tensor q = heads(tail.of(problem.in.q)), k = heads(problem.in.k[0].to(at::kDouble));
    const at::Tensor v = heads(problem.in.v[0].to(at::kDouble));
    if (!softmax) q = at::elu(q) + 1, k = at::elu(k) + 1;
    at::Tensor weights = at::matmul(q, k.transpose(1, 2));
    if (softmax) {
        weights = weights / std::sqrt(static_cast<double>(c));
        weights = (weights - weights.amax(2, true)).exp();
    }
    weights = weights.masked_fill(tail.future(), 0);
    const at::Tensor y = at::matmul(weights, v) / weights.sum(2, true);
    return y.transpose(0, 1).reshape({tail.rows, d});
}

}  // namespace

double tail_error(const Problem& problem, const at::Tensor& found) {
    AFT_ASSERT(problem.options.causal && problem.in.v.size(0) == 1);
    constexpr int64_t kRows = 8;
    const int64_t T = problem.in.v.size(1);
    const LastRows tail{T, std::min(kRows, T)};
    const bool attention =
        problem.kind == ops::OperatorKind::softmax || problem.kind == ops::OperatorKind::linear;
    const at::Tensor wanted = attention ? attention_rows(problem, tail) : aft_rows(problem, tail);
    return error_of({tail.of(found)}, {wanted});
}

}  // namespace aft::bench
