#include "bench/workloads/problem.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace aft::bench {
namespace {

double local_pairs(double T, double s, bool causal) {
    s = std::min(s, T);
    return causal ? s * T - s * (s - 1) / 2 : T * (2 * s - 1) - s * (s - 1);
}

double taps_inside(const Problem& problem) {
    const double s = static_cast<double>(problem.in.w.size(1)), half = (s - 1) / 2;
    const auto along = [&](int64_t length) {
        double sum = 0;
        for (int64_t t = 0; t < length; ++t) {
            const double before = static_cast<double>(t),
                         after = static_cast<double>(length - 1 - t);
            sum += std::min(half, before) + std::min(half, after) + 1;
        }
        return sum;
    };
    return along(problem.options.grid_height) * along(problem.options.grid_width);
}

double pairs_of(const Problem& problem) {
    const double T = static_cast<double>(problem.in.v.size(1));
    const bool causal = problem.options.causal;
    switch (problem.kind) {
        case ops::OperatorKind::full:
            return causal ? T * (T + 1) / 2 : T * T;
        case ops::OperatorKind::local:
            return local_pairs(T, static_cast<double>(problem.options.window), causal);
        case ops::OperatorKind::conv2d:  // of a pair of places inside one window one sees the other
            return causal ? (taps_inside(problem) + T) / 2 : taps_inside(problem);
        case ops::OperatorKind::conv1d: {
            const auto s = static_cast<double>(problem.in.w.size(1));
            return local_pairs(T, causal ? s : (s + 1) / 2, causal);
        }
        default:
            return 0;
    }
}

// Ordinary data need no maximum in float64: exp(w) against [exp(K) V, exp(K)].
at::Tensor double_einsum(const ops::Inputs& in, const at::Tensor& table) {
    const at::Tensor x = in.k.exp();
    const at::Tensor n = at::matmul(table, x * in.v), d = at::matmul(table, x);
    return in.q.sigmoid() * (n / d);
}

at::Tensor double_scan(const ops::Inputs& in, bool causal) {
    const at::Tensor x = in.k.exp();
    const at::Tensor n = x * in.v;
    if (!causal) return in.q.sigmoid() * (n.sum(1, true) / x.sum(1, true));
    return in.q.sigmoid() * (n.cumsum(1) / x.cumsum(1));
}

at::Tensor banded_table(const Problem& problem, const ops::Inputs& in) {
    at::Tensor w = in.w.defined() ? in.w : at::matmul(in.u, in.r.t());
    if (problem.kind == ops::OperatorKind::local) {
        const int64_t s = problem.options.window;
        w = w.triu(1 - s).tril(s - 1);
    }
    const at::Tensor e = w.exp();
    return problem.options.causal ? e.tril() : e;
}

at::Tensor double_forward(const Problem& problem, const ops::Inputs& in) {
    if (problem.kind == ops::OperatorKind::simple) return double_scan(in, problem.options.causal);
    if (problem.kind == ops::OperatorKind::full || problem.kind == ops::OperatorKind::local)
        return double_einsum(in, banded_table(problem, in));
    ops::Options options = problem.options;
    options.backend = ops::OperatorBackend::reference;
    return ops::apply(problem.kind, in, options);
}

ops::Inputs in_double(const ops::Inputs& in, bool gradients) {
    ops::Inputs out;
    const auto turn = [&](const at::Tensor& x) {
        return x.defined() ? x.detach().to(at::kDouble).requires_grad_(gradients) : x;
    };
    out.q = turn(in.q);
    out.k = turn(in.k);
    out.v = turn(in.v);
    out.w = turn(in.w);
    out.u = turn(in.u);
    out.r = turn(in.r);
    return out;
}

}  // namespace

Problem make_problem(ops::OperatorKind kind, const Shape& shape, const ops::Options& options) {
    at::manual_seed(1);
    Problem problem;
    problem.name = shape.name;
    problem.kind = kind;
    problem.options = options;
    const auto normal = [&] { return at::randn({shape.batch, shape.length, shape.width}); };
    problem.in.q = normal();
    problem.in.k = normal();
    problem.in.v = normal();
    if (kind == ops::OperatorKind::full || kind == ops::OperatorKind::local) {
        const double scale = std::sqrt(0.5 / std::sqrt(static_cast<double>(shape.factors)));
        problem.in.u = at::randn({shape.length, shape.factors}) * scale;
        problem.in.r = at::randn({shape.length, shape.factors}) * scale;
    }
    return problem;
}

Problem backward_of(Problem problem) {
    problem.backward = true;
    problem.dy = at::randn_like(problem.in.v);
    return problem;
}

Shape tiny(Shape shape) {
    shape.batch = std::min<int64_t>(shape.batch, 2);
    shape.length = 64;
    shape.width = 32;
    shape.factors = 8;
    shape.name = "tiny (" + shape.name + ")";
    return shape;
}

Cost cost_of(const Problem& problem) {
    const double B = static_cast<double>(problem.in.v.size(0));
    const double d = static_cast<double>(problem.in.v.size(2));
    const double h = static_cast<double>(problem.in.k.size(2));  // channels of the keys: d or heads
    const double n = static_cast<double>(problem.in.v.numel());
    const double keys = static_cast<double>(problem.in.k.numel());
    const bool simple = problem.kind == ops::OperatorKind::simple;
    const double scans = simple ? (problem.backward ? 30 : 12) * n : 0;  // never the limit
    // A pair costs one multiply-add of the numerator (d) and one of the denominator (h); backward
    // the same for the transposed sums and for the gradient of w.
    const double products = 2 * B * (d + h) * pairs_of(problem);
    // Forward Q, K, V, Y; backward of simple Q, K, V, dY, dQ, dK, dV; else R (d) and l (h) too.
    const double numbers = !problem.backward ? 3 * n + keys
                           : simple          ? 5 * n + 2 * keys
                                             : 6 * n + 3 * keys;
    return {.flop = scans + (problem.backward ? 2 : 1) * products, .bytes = 4 * numbers};
}

Tensors leaves_of(const ops::Inputs& in) {
    Tensors leaves;
    for (const at::Tensor& x : {in.q, in.k, in.v, in.w, in.u, in.r})
        if (x.defined()) leaves.push_back(x);
    return leaves;
}

Tensors exact(const Problem& problem, const Function& other) {
    const c10::AutoGradMode mode(problem.backward);
    const ops::Inputs all = in_double(problem.in, problem.backward);
    ops::Inputs in = all;
    at::Tensor dy = problem.dy;
    if (other) {
        for (at::Tensor* x : {&in.q, &in.k, &in.v}) *x = x->narrow(0, 0, 1);
        if (dy.defined()) dy = dy.narrow(0, 0, 1);
    }
    const at::Tensor y = other ? other(in) : double_forward(problem, in);
    if (!problem.backward) return {y};
    y.backward(dy.to(at::kDouble));
    Tensors gradients;
    for (const at::Tensor& leaf : leaves_of(all)) {
        if (!leaf.grad().defined()) continue;  // attention has no w
        gradients.push_back(other ? leaf.grad().narrow(0, 0, 1) : leaf.grad());
    }
    return gradients;
}

double error_of(const Tensors& found, const Tensors& wanted) {
    const c10::NoGradGuard no_gradients;
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        at::Tensor x = found[i].detach().to(at::kDouble);
        if (x.dim() == 3 && x.size(0) > wanted[i].size(0)) x = x.narrow(0, 0, wanted[i].size(0));
        const double distance = (x - wanted[i]).abs().max().item<double>();
        if (std::isnan(distance)) return distance;
        worst = std::max(worst, distance / wanted[i].abs().max().item<double>());
    }
    return worst;
}

}  // namespace aft::bench
