// Traps seen in other implementations, each as a function of the operator under test.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {

namespace {

// A maximum over the batch ties samples together.
std::string samples_do_not_meet(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        Sample sample = make_sample(c);
        sample.in.k[1] += 3;
        const at::Tensor both = evaluate(op, c.kind, sample);
        for (int64_t b = 0; b < c.batch; ++b) {
            Sample alone = sample;
            for (at::Tensor* x : {&alone.in.q, &alone.in.k, &alone.in.v})
                *x = x->narrow(0, b, 1).clone();
            const double error =
                largest_difference(evaluate(op, c.kind, alone), both.narrow(0, b, 1));
            if (!(error < 1e-5)) return fmt::format("sample {} alone differs by {:.1e}", b, error);
        }
        return std::string();
    });
}

// With a maximum over the batch, K is nothing at B = 1.
std::string keys_matter_alone(const Operator& op) {
    return all_aft([&](const OpsCase& given) {
        OpsCase c = given;
        c.batch = 1;
        Sample sample = make_sample(c);
        const at::Tensor y = evaluate(op, c.kind, sample);
        sample.in.k = sample.in.k.flip(1);
        const double change = largest_difference(evaluate(op, c.kind, sample), y);
        return change > 1e-3 ? std::string() : "K does not matter at B = 1";
    });
}

std::string bias_matters(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        if (c.kind == OperatorKind::simple) return std::string();
        Sample sample = make_sample(c);
        const at::Tensor y = evaluate(op, c.kind, sample);
        at::Tensor& w = sample.in.w.defined() ? sample.in.w : sample.in.u;
        w = w.flip(1) + 0.3;
        const double change = largest_difference(evaluate(op, c.kind, sample), y);
        return change > 1e-3 ? std::string() : "w does not matter";
    });
}

// Sources outside the window count unless they are hidden; the window's edge is |t - j| < s.
std::string window_edge(const Operator& op) {
    for (const bool hidden : {false, true})
        for (const int64_t distance : {4, 5}) {
            Sample sample = make_sample({.kind = OperatorKind::local, .outside_hidden = hidden});
            const at::Tensor y = evaluate(op, OperatorKind::local, sample);
            sample.in.w.diagonal(-distance).add_(2);
            sample.in.w.diagonal(distance).add_(2);
            const double by_bias = largest_difference(evaluate(op, OperatorKind::local, sample), y);
            if ((by_bias > 1e-3) != (distance == 4))
                return fmt::format("w at distance {} with window 5 changes y by {:.1e}", distance,
                                   by_bias);
        }
    for (const bool hidden : {false, true}) {
        Sample sample = make_sample({.kind = OperatorKind::local, .outside_hidden = hidden});
        const at::Tensor y = evaluate(op, OperatorKind::local, sample);
        sample.in.v.select(1, 25) += 5;
        const double change = largest_difference(
            evaluate(op, OperatorKind::local, sample).select(1, 2), y.select(1, 2));
        if ((change > 1e-4) == hidden)
            return fmt::format("a source far outside the window changes y by {:.1e}{}", change,
                               hidden ? " although it is hidden" : "");
    }
    return "";
}

std::string no_causal_leak(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        if (!c.causal) return std::string();
        Sample sample = make_sample(c);
        const int64_t n = 17, rest = c.length - n;
        sample.dy.narrow(1, n, rest).zero_();
        const Result before = run(op, c.kind, sample, at::kFloat);
        for (const auto& [name, g] : before.gradients) {
            if (name != "dk" && name != "dv") continue;
            const double leak = g.narrow(1, n, rest).abs().max().item<double>();
            if (leak != 0) return fmt::format("{} of the future is {:.1e}", name, leak);
        }
        sample.in.k.narrow(1, n, rest).add_(6);
        sample.in.v.narrow(1, n, rest).mul_(-3);
        sample.in.q.narrow(1, n, rest).mul_(-3);
        const double change = largest_difference(evaluate(op, c.kind, sample).narrow(1, 0, n),
                                                 before.y.narrow(1, 0, n));
        // Both passes add up 17 sources at most, in an order that may differ: gamma_17 each.
        const double size = sample.in.v.narrow(1, 0, n).abs().max().item<double>();
        return change < 2 * 17 * 0x1p-24 * size
                   ? std::string()
                   : fmt::format("the future changes the past by {:.1e}", change);
    });
}

// Gradients along random directions against central differences of the operator itself, in
// float64, ordinary and with keys of a thousand.
std::string gradients_mirror_forward(const Operator& op) {
    return all_aft([&](const OpsCase& given) {
        for (const double offset : {0.0, 1000.0}) {
            OpsCase c = given;
            c.key_scale = 2;
            c.bias_scale = 2;
            Sample sample = make_sample(c);
            sample.in.k = sample.in.k + offset;
            const Result at_point = run(op, c.kind, sample, at::kDouble);
            Sample ahead = sample, behind = sample;
            double slope = 0;
            const double step = 1e-5;
            const auto move = [&](const char* name, at::Tensor Inputs::* member) {
                if (!(sample.in.*member).defined()) return;
                const at::Tensor direction = at::randn_like(sample.in.*member);
                ahead.in.*member = sample.in.*member + step * direction;
                behind.in.*member = sample.in.*member - step * direction;
                for (const auto& [known, g] : at_point.gradients)
                    if (known == name) slope += (g * direction).sum().item<double>();
            };
            move("dq", &Inputs::q), move("dk", &Inputs::k), move("dv", &Inputs::v);
            move("dw", &Inputs::w), move("du", &Inputs::u), move("dr", &Inputs::r);
            const auto value = [&](const Sample& x) {
                return (op(c.kind, x.in, x.options) * sample.dy).sum().item<double>();
            };
            const double found = (value(ahead) - value(behind)) / (2 * step);
            if (!(std::abs(found - slope) <= 1e-6 * (1 + std::abs(found))))
                return fmt::format("K + {}: slope {} by gradients, {} by differences", offset,
                                   slope, found);
        }
        return std::string();
    });
}

// At the usual start (w = 0, or small factors) every parameter must get a gradient.
std::string first_step_moves(const Operator& op) {
    return all_aft([&](const OpsCase& given) {
        if (given.kind == OperatorKind::simple) return std::string();
        OpsCase c = given;
        c.bias_scale = c.factors > 0 ? 0.01 : 0;
        const Sample sample = make_sample(c);
        for (const auto& [name, g] : run(op, c.kind, sample, at::kFloat).gradients)
            if (!(g.abs().max().item<double>() > 1e-4)) return name + " is zero at the start";
        return std::string();
    });
}

// |K| and |w| up to a thousand: finite, and what the definition says.
std::string large_is_exact(const Operator& op) {
    return all_aft([&](const OpsCase& given) {
        OpsCase c = given;
        c.key_scale = 300;
        c.bias_scale = 300;
        Sample sample = make_sample(c);
        for (at::Tensor* x : {&sample.in.k, &sample.in.w, &sample.in.u, &sample.in.r})
            if (x->defined()) *x = x->to(at::kFloat).to(at::kDouble).clamp(-1000, 1000);
        const Result found = run(op, c.kind, sample, at::kFloat);
        const double error = largest_difference(found.y, definition(c.kind, sample));
        if (!(error < 1e-5 * sample.in.v.abs().max().item<double>()))
            return fmt::format("differs by {:.1e}", error);
        for (const auto& [name, g] : found.gradients)
            if (!g.isfinite().all().item<bool>()) return name + " is not finite";
        return std::string();
    });
}

// Rows [B, T, d] that see key (1, 11) of key column 0.
at::Tensor rows_that_see(const OpsCase& c, const Sample& sample) {
    const int64_t per_key = c.dim / sample.in.k.size(2);
    at::Tensor seen = at::zeros({c.batch, c.length, c.dim}, at::kBool);
    for (int64_t t = 0; t < c.length; ++t) {
        const bool hidden = c.outside_hidden && std::abs(t - 11) >= c.window;
        if ((!c.causal || t >= 11) && !hidden) seen[1][t].narrow(0, 0, per_key).fill_(true);
    }
    return seen;
}

// NaN or infinity reaches exactly the rows that see it.
std::string poison_stays_local(const Operator& op) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return all_aft([&](const OpsCase& c) {
        const Sample clean = make_sample(c);
        const at::Tensor good = evaluate(op, c.kind, clean), seen = rows_that_see(c, clean);
        for (const double poison : {nan, infinity})
            for (const bool in_keys : {true, false}) {
                Sample sample = clean;
                at::Tensor& x = in_keys ? sample.in.k : sample.in.v;
                x = x.clone();
                const int64_t columns = in_keys ? 1 : c.dim / clean.in.k.size(2);
                x[1][11].narrow(0, 0, columns).fill_(poison);
                const at::Tensor y = evaluate(op, c.kind, sample);
                if (!at::equal(y.isfinite().logical_not(), seen))
                    return fmt::format("{} in {} reaches {} entries, {} see it", poison,
                                       in_keys ? "K" : "V",
                                       y.isfinite().logical_not().sum().item<int64_t>(),
                                       seen.sum().item<int64_t>());
                const double error =
                    largest_difference(y.masked_fill(seen, 0), good.masked_fill(seen, 0));
                if (!(error < 1e-5)) return fmt::format("other rows change by {:.1e}", error);
            }
        return std::string();
    });
}

}  // namespace

std::vector<OpsCheck> trap_checks() {
    return {{"samples do not meet", samples_do_not_meet},
            {"keys matter alone", keys_matter_alone},
            {"bias matters", bias_matters},
            {"window edge", window_edge},
            {"no causal leak", no_causal_leak},
            {"gradients mirror forward", gradients_mirror_forward},
            {"first step moves", first_step_moves},
            {"large is exact", large_is_exact},
            {"poison stays local", poison_stays_local}};
}

}  // namespace aft::ops::testing
