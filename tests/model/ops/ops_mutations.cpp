// Wrong operators: each is the dense definition with one mistake that was seen in the wild, or that
// is easy to make. The checks must notice every one of them.
#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

struct Mistakes {
    bool ignore_bias = false, plain_keys = false, wide_window = false, hide_outside = false;
    bool batch_maximum = false, multiply_bias = false, ignore_mask = false, narrow_window = false;
    bool bare_denominator = false, count_twice = false, clamped_gradient = false;
    bool forget_outside = false, transpose_bias = false, global_maximum = false, epsilon = false;
    bool no_bias_gradient = false, no_gate = false, leaky_values = false;
};

// [G, T, T], float64, 0 outside windows, the mistakes of windows and biases made
at::Tensor bias_of(OperatorKind kind, const Inputs& in, Options options, const Mistakes& m) {
    const int64_t T = in.k.size(1);
    if (m.wide_window && options.window > 0) options.window += 1;
    if (m.narrow_window && options.window > 1) options.window -= 1;
    options.outside_hidden = options.outside_hidden || (m.hide_outside && options.window > 0);
    Options unmasked = options;
    unmasked.causal = false;
    if (kind == OperatorKind::conv1d) unmasked.causal = options.causal;  // its taps depend on it
    at::Tensor w = dense_bias(kind, in, unmasked, T);
    if (kind == OperatorKind::conv1d && options.causal) w = w.masked_fill(w.isneginf(), 0);
    if (w.dim() == 2) w = w.unsqueeze(0);
    if (m.transpose_bias) w = w.transpose(1, 2);
    if (m.ignore_bias) w = at::where(w.isneginf(), w, at::zeros_like(w));
    return m.no_bias_gradient ? w.detach() : w;
}

// The weighted average of one group: w [T, T], K [B, T, 1 or c], V [B, T, c] -> [B, T, c]
struct Group {
    at::Tensor w, keys, values;
};
at::Tensor dense_average(const Group& x, bool causal, const Mistakes& m) {
    const auto& [w, keys, V] = x;
    const int64_t T = w.size(0);
    const at::Tensor future = at::ones({T, T}, at::kBool).triu(1).unsqueeze(0).unsqueeze(3);
    at::Tensor K = keys.unsqueeze(1),
               bias = w.unsqueeze(0).unsqueeze(3);  // [B, 1, T, c], [1, T, T, 1]
    if (m.batch_maximum) K = K - K.amax(0, true);
    at::Tensor z = m.multiply_bias ? bias * K : bias + K;
    if (m.clamped_gradient) z = z.detach() + (z.clamp(-1.5, 1.5) - z.clamp(-1.5, 1.5).detach());
    const bool masked = causal && !m.ignore_mask;
    if (masked) z = z.masked_fill(future, kHidden);
    if (m.plain_keys) {
        const at::Tensor p = (masked ? bias.masked_fill(future, kHidden) : bias).softmax(2) * K;
        return (p * V.unsqueeze(1)).sum(2) / p.sum(2);
    }
    const at::Tensor largest = m.global_maximum ? (K.amax(2, true) + bias.amax()) : z.amax(2, true);
    at::Tensor p = (z - largest.detach()).exp();
    if (m.global_maximum) p = p.to(at::kFloat).to(at::kDouble);
    if (m.count_twice) p = p + at::where(bias == 0, p.mul(0), (K - largest.detach()).exp());
    if (m.forget_outside) p = p * (bias != 0);
    at::Tensor D = p.sum(2);
    if (m.bare_denominator) {
        at::Tensor bare = (K - largest.detach()).exp().expand_as(p);
        D = (masked ? bare.masked_fill(future, 0) : bare).sum(2);
    }
    if (m.epsilon) D = D * largest.squeeze(2).exp() + 1e-8;
    at::Tensor N = (p * V.unsqueeze(1)).sum(2);
    if (m.leaky_values) N = N + V.sum(1, true).mul(1e-3);
    if (m.epsilon) N = N * largest.squeeze(2).exp();
    return N / D;
}

at::Tensor dense(OperatorKind kind, const Inputs& in, const Options& options, const Mistakes& m) {
    const at::Tensor K = in.k.to(at::kDouble), V = in.v.to(at::kDouble);
    const at::Tensor w = bias_of(kind, in, options, m);
    const int64_t groups =
        kind == OperatorKind::conv1d || kind == OperatorKind::conv2d ? K.size(2) : 1;
    const int64_t c = V.size(2) / groups, keys = K.size(2) / groups;
    std::vector<at::Tensor> out;
    for (int64_t g = 0; g < groups; ++g)
        out.push_back(dense_average(
            {w[w.size(0) == 1 ? 0 : g], K.narrow(2, g * keys, keys), V.narrow(2, g * c, c)},
            options.causal, m));
    const at::Tensor R = at::cat(out, 2);
    const bool gated = in.q.defined() && !m.no_gate;
    return (gated ? in.q.to(at::kDouble).sigmoid() * R : R).to(in.v.scalar_type());
}

Operator wrong(const Mistakes& m) {
    return [m](OperatorKind kind, const Inputs& in, const Options& options) {
        return dense(kind, in, options, m);
    };
}

// The mistakes in some operators only.
Operator wrong_in(const std::vector<OperatorKind>& kinds, const Mistakes& m) {
    return [kinds, m](OperatorKind kind, const Inputs& in, const Options& options) {
        const bool here = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
        return dense(kind, in, options, here ? m : Mistakes{});
    };
}

at::Tensor swapped_factors(OperatorKind kind, const Inputs& in, const Options& options) {
    Inputs swapped = in;
    std::swap(swapped.u, swapped.r);
    return dense(kind, swapped, options, {});
}

}  // namespace

Operator unmutated() {
    return wrong({});
}

namespace {

std::vector<Mutation> general_mistakes() {
    return {
        {"w ignored",
         wrong({.ignore_bias = true}),
         {"definition", "bias matters", "window edge", "first step moves", "large is exact"}},
        {"K for exp(K)",
         wrong({.plain_keys = true}),
         {"definition", "key shift", "large is exact"}},
        {"window <= s",
         wrong({.wide_window = true}),
         {"definition", "window edge", "local = banded full"}},
        {"window < s - 1",
         wrong({.narrow_window = true}),
         {"definition", "window edge", "local = banded full"}},
        {"-inf outside",
         wrong({.hide_outside = true}),
         {"definition", "window edge", "local = banded full", "simple = zero bias"}},
        {"0 weight outside",
         wrong({.forget_outside = true}),
         {"definition", "simple = zero bias", "window 0 = simple"}},
        {"maximum over the batch",
         wrong({.batch_maximum = true}),
         {"definition", "samples do not meet", "keys matter alone"}},
        {"w multiplied", wrong({.multiply_bias = true}), {"definition", "key shift", "row shift"}},
        {"w transposed", wrong({.transpose_bias = true}), {"definition", "row shift"}},
        {"causal mask ignored",
         wrong({.ignore_mask = true}),
         {"definition", "no causal leak", "prefix = parallel", "poison stays local"}},
        {"the future in the numerator",
         wrong({.leaky_values = true}),
         {"no causal leak", "constant values", "prefix = parallel"}},
        {"denominator without w",
         wrong({.bare_denominator = true}),
         {"definition", "constant values", "row shift"}},
        {"window counted twice", wrong({.count_twice = true}), {"definition", "row shift"}},
        {"one maximum for all", wrong({.global_maximum = true}), {"large is exact"}},
        {"epsilon in the denominator", wrong({.epsilon = true}), {"constant values"}},
        {"backward of a clamped z",
         wrong({.clamped_gradient = true}),
         {"gradients mirror forward"}},
        {"no gradient to w",
         wrong({.no_bias_gradient = true}),
         {"first step moves", "gradients mirror forward"}},
        {"no gate", wrong({.no_gate = true}), {"definition", "gate", "constant values"}}};
}

// Mistakes of one operator, which only its relations to the others can show.
std::vector<Mutation> single_mistakes() {
    const std::vector<OperatorKind> kernels{OperatorKind::conv1d, OperatorKind::conv2d};
    return {{"kernels convolve K, not exp(K)",
             wrong_in(kernels, {.plain_keys = true}),
             {"definition", "conv = Toeplitz full", "key shift"}},
            {"kernels mirrored",
             wrong_in(kernels, {.transpose_bias = true}),
             {"definition", "conv = Toeplitz full"}},
            {"kernels ignored",
             wrong_in(kernels, {.ignore_bias = true}),
             {"definition", "conv = Toeplitz full", "bias matters"}},
            {"local: w ignored",
             wrong_in({OperatorKind::local}, {.ignore_bias = true}),
             {"wide window = full", "local = banded full", "window edge"}},
            {"local: K for exp(K)",
             wrong_in({OperatorKind::local}, {.plain_keys = true}),
             {"simple = zero bias", "window 0 = simple", "wide window = full"}},
            {"simple: K for exp(K)",
             wrong_in({OperatorKind::simple}, {.plain_keys = true}),
             {"simple = zero bias", "window 0 = simple", "key shift"}},
            {"r u^T", swapped_factors, {"definition", "factors = product"}}};
}

}  // namespace

std::vector<Mutation> mutations() {
    std::vector<Mutation> out = general_mistakes();
    for (const Mutation& mutation : single_mistakes()) out.push_back(mutation);
    return out;
}

}  // namespace aft::ops::testing
