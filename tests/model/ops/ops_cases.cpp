#include "tests/model/ops/ops_cases.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/environment.h"
#include "tests/model/test_device.h"

namespace aft::ops::testing {

namespace {

bool has_taps(OperatorKind kind) {
    return kind == OperatorKind::conv1d || kind == OperatorKind::conv2d;
}

at::Tensor normal(at::IntArrayRef sizes, double scale) {
    return at::randn(sizes, at::kDouble) * scale;
}

Inputs moved(const Inputs& in) {
    return {.q = on_device(in.q),
            .k = on_device(in.k),
            .v = on_device(in.v),
            .w = on_device(in.w),
            .u = on_device(in.u),
            .r = on_device(in.r)};
}

}  // namespace

Operator operator_of(OperatorBackend backend, int64_t row_block) {
    return [=](OperatorKind kind, const Inputs& in, const Options& options) {
        Options chosen = options;
        chosen.backend = backend;
        chosen.row_block = row_block;
        if (backend == OperatorBackend::cpu) return apply(kind, in, chosen);
        return apply(kind, moved(in), chosen).cpu();
    };
}

Operator oracle() {
    return [](OperatorKind kind, const Inputs& in, const Options& options) {
        Options chosen = options;
        chosen.backend = OperatorBackend::reference;
        return apply(kind, in, chosen);
    };
}

Sample make_sample(const OpsCase& c) {
    at::manual_seed(c.seed);
    const int64_t B = c.batch, T = c.length, d = c.dim, s = c.window;
    const bool conv = has_taps(c.kind);
    Sample out;
    out.in.q = normal({B, T, d}, 1);
    out.in.k = normal({B, T, conv ? c.heads : d}, c.key_scale);
    out.in.v = normal({B, T, d}, 1);
    out.dy = normal({B, T, d}, 1);
    if (c.kind == OperatorKind::conv1d) out.in.w = normal({c.heads, s}, c.bias_scale);
    if (c.kind == OperatorKind::conv2d) out.in.w = normal({c.heads, s, s}, c.bias_scale);
    if (c.kind == OperatorKind::full || c.kind == OperatorKind::local) {
        const double scale = std::sqrt(c.bias_scale / std::sqrt(std::max<double>(1, c.factors)));
        if (c.factors > 0) {
            out.in.u = normal({T, c.factors}, scale);
            out.in.r = normal({T, c.factors}, scale);
        } else {
            out.in.w = normal({T, T}, c.bias_scale);
        }
    }
    out.options.causal = c.causal;
    out.options.window = c.kind == OperatorKind::local ? s : 0;
    out.options.outside_hidden = c.outside_hidden;
    if (c.kind == OperatorKind::conv2d) {
        out.options.grid_width = c.grid_width;
        out.options.grid_height = T / c.grid_width;
    }
    return out;
}

std::string describe(const OpsCase& c) {
    return fmt::format("{}{}{}{} B={} T={} d={} s={}", kind_name(c.kind), c.causal ? " causal" : "",
                       c.factors > 0 ? " with factors" : "", c.outside_hidden ? " hidden" : "",
                       c.batch, c.length, c.dim, c.window);
}

uint64_t random_count(uint64_t usual) {
    return variable("AFTERIMAGE_ALL_TESTS").empty() ? usual : 10000;
}

void sometimes_long(OpsCase& c, CounterRng& rng) {
    if (rng.below(40) != 0) return;
    const bool conv = has_taps(c.kind);
    const int64_t length = 300 + rng.below(601);
    c.batch = 1;
    c.heads = 1 + rng.below(3);
    c.dim = conv ? c.heads * (1 + rng.below(4)) : 1 + rng.below(12);
    c.length = c.kind == OperatorKind::conv2d ? length - length % c.grid_width : length;
    if (!conv) c.window = 1 + rng.below(c.length + 20);
}

std::vector<OpsCase> aft_cases() {
    std::vector<OpsCase> out;
    for (const bool causal : {false, true}) {
        out.push_back({.kind = OperatorKind::simple, .causal = causal});
        out.push_back({.kind = OperatorKind::full, .causal = causal});
        out.push_back({.kind = OperatorKind::full, .causal = causal, .factors = 4});
        out.push_back({.kind = OperatorKind::local, .causal = causal});
        out.push_back({.kind = OperatorKind::local, .causal = causal, .factors = 4});
        out.push_back({.kind = OperatorKind::local, .causal = causal, .outside_hidden = true});
        out.push_back({.kind = OperatorKind::conv1d, .causal = causal});
        out.push_back({.kind = OperatorKind::conv2d, .causal = causal, .window = 3});
    }
    out.push_back({.kind = OperatorKind::conv1d, .causal = true, .window = 4});
    return out;
}

Inputs converted(const Inputs& in, at::ScalarType type) {
    const auto leaf = [&](const at::Tensor& x) {
        return x.defined() ? x.detach().to(type, false, true) : x;
    };
    return {.q = leaf(in.q),
            .k = leaf(in.k),
            .v = leaf(in.v),
            .w = leaf(in.w),
            .u = leaf(in.u),
            .r = leaf(in.r)};
}

Sample rounded(Sample sample) {
    sample.in = converted(converted(sample.in, at::kFloat), at::kDouble);
    sample.dy = sample.dy.to(at::kFloat).to(at::kDouble);
    return sample;
}

Result run(const Operator& op, OperatorKind kind, const Sample& sample, at::ScalarType type) {
    const Inputs x = converted(sample.in, type);
    const std::vector<std::pair<std::string, at::Tensor>> leaves{
        {"dq", x.q}, {"dk", x.k}, {"dv", x.v}, {"dw", x.w}, {"du", x.u}, {"dr", x.r}};
    for (const auto& [name, leaf] : leaves)
        if (leaf.defined()) leaf.set_requires_grad(true);
    const at::Tensor y = op(kind, x, sample.options);
    if (y.requires_grad()) y.backward(sample.dy.to(type));
    Result out{.y = y.detach().to(at::kDouble), .gradients = {}};
    for (const auto& [name, leaf] : leaves) {
        if (!leaf.defined()) continue;
        const at::Tensor g = leaf.grad();
        out.gradients.emplace_back(
            name, (g.defined() ? g : at::zeros_like(leaf)).detach().to(at::kDouble));
    }
    return out;
}

at::Tensor evaluate(const Operator& op, OperatorKind kind, const Sample& sample) {
    return op(kind, converted(sample.in, at::kFloat), sample.options).to(at::kDouble);
}

std::string all_aft(const std::function<std::string(const OpsCase&)>& check) {
    for (const OpsCase& c : aft_cases()) {
        const std::string failure = check(c);
        if (!failure.empty()) return describe(c) + ": " + failure;
    }
    return "";
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
    if (a.numel() == 0) return 0;
    const double value = (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

double forward_error(const Result& found, const Result& truth, const Sample& sample) {
    return largest_difference(found.y, truth.y) / sample.in.v.abs().max().item<double>();
}

GradientError gradient_error(const Result& found, const Result& truth, const Sample& sample) {
    const at::Tensor& V = sample.in.v;
    const at::Tensor size = V.size(1) > 1 ? V - V.mean(1, true) : V;  // one token has no spread
    double natural = 0;
    for (const auto& [name, g] : truth.gradients)
        if (name == "dv") natural = (g * size).norm().item<double>();
    GradientError worst;
    for (size_t i = 0; i < truth.gradients.size(); ++i) {
        const auto& [name, g] = truth.gradients[i];
        const double floor = std::max(0.01 * natural, std::numeric_limits<double>::min());
        double value = (found.gradients[i].second - g).norm().item<double>() /
                       std::max(g.norm().item<double>(), floor);
        if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
        if (value >= worst.value) worst = {name, value};
    }
    return worst;
}

std::string broken_promise(const OpsCase& c) {
    const Sample sample = rounded(make_sample(c));
    const Result truth = run(oracle(), c.kind, sample, at::kDouble);
    const Result found = run(operator_of(OperatorBackend::cpu), c.kind, sample, at::kFloat);
    const double forward = forward_error(found, truth, sample);
    const GradientError g = gradient_error(found, truth, sample);
    if (forward <= kForward && g.value <= kGradient) return "";
    return fmt::format("{} h={} width={}: y {}, {} {}", describe(c), c.heads, c.grid_width, forward,
                       g.name, g.value);
}

at::Tensor toeplitz(OperatorKind kind, const Sample& sample) {
    const at::Tensor kernel = sample.in.w.to(at::kDouble).contiguous();
    const int64_t h = kernel.size(0), s = kernel.size(1), T = sample.in.k.size(1);
    const int64_t W = std::max<int64_t>(1, sample.options.grid_width);
    at::Tensor out = at::zeros({h, T, T}, at::kDouble);
    auto w = out.accessor<double, 3>();
    for (int64_t i = 0; i < h; ++i)
        for (int64_t t = 0; t < T; ++t)
            for (int64_t j = 0; j < T; ++j) {
                if (kind == OperatorKind::conv1d) {
                    const int64_t o = j - t + (sample.options.causal ? s - 1 : s / 2);
                    if (o >= 0 && o < s) w[i][t][j] = kernel[i][o].item<double>();
                } else {
                    const int64_t a = j / W - t / W + s / 2, b = j % W - t % W + s / 2;
                    if (a >= 0 && a < s && b >= 0 && b < s)
                        w[i][t][j] = kernel[i][a][b].item<double>();
                }
            }
    return out;
}

namespace {

// w of one group, or undefined for zero everywhere.
at::Tensor written_out(OperatorKind kind, const Sample& sample, int64_t group) {
    if (has_taps(kind)) return toeplitz(kind, sample)[group].contiguous();
    const Inputs& in = sample.in;
    if (in.u.defined()) return at::matmul(in.u, in.r.t()).contiguous();
    return in.w.defined() ? in.w.contiguous() : at::Tensor();
}

bool sees(const Options& options, OperatorKind kind, int64_t t, int64_t j) {
    if (options.causal && j > t) return false;
    return !(kind == OperatorKind::local && options.outside_hidden &&
             std::abs(t - j) >= options.window);
}

}  // namespace

at::Tensor definition(OperatorKind kind, const Sample& sample) {
    const at::Tensor q = sample.in.q.contiguous(), k = sample.in.k.contiguous(),
                     v = sample.in.v.contiguous();
    const int64_t B = v.size(0), T = v.size(1), d = v.size(2), G = d / k.size(2);
    at::Tensor out = at::zeros_like(v);
    auto Q = q.accessor<double, 3>(), K = k.accessor<double, 3>(), V = v.accessor<double, 3>();
    auto Y = out.accessor<double, 3>();
    for (int64_t c = 0; c < d; ++c) {
        const int64_t key = c / G;
        const at::Tensor dense = written_out(kind, sample, key);
        const auto bias = [&](int64_t t, int64_t j) -> long double {
            const bool out_of_window =
                kind == OperatorKind::local && std::abs(t - j) >= sample.options.window;
            if (!dense.defined() || out_of_window) return 0;
            return dense.const_data_ptr<double>()[t * T + j];
        };
        for (int64_t b = 0; b < B; ++b)
            for (int64_t t = 0; t < T; ++t) {
                long double largest = -std::numeric_limits<long double>::infinity(), N = 0, D = 0;
                for (int64_t j = 0; j < T; ++j)
                    if (sees(sample.options, kind, t, j))
                        largest = std::max(largest, bias(t, j) + K[b][j][key]);
                for (int64_t j = 0; j < T; ++j) {
                    if (!sees(sample.options, kind, t, j)) continue;
                    const long double p = std::exp(bias(t, j) + K[b][j][key] - largest);
                    N += p * V[b][j][c];
                    D += p;
                }
                Y[b][t][c] = static_cast<double>(N / D / (1 + std::exp(-(long double)Q[b][t][c])));
            }
    }
    return out;
}

}  // namespace aft::ops::testing
