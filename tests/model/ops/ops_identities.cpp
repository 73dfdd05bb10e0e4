// Identities between the operators, each as a function of the operator under test.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {

namespace {

constexpr double kTolerance = 1e-5;  // of max|V|, float32 operators

std::string compare(const at::Tensor& a, const at::Tensor& b, const Sample& sample,
                    const std::string& what) {
    const double error = largest_difference(a, b) / sample.in.v.abs().max().item<double>();
    return error <= kTolerance ? "" : fmt::format("{}: differs by {:.2e} of max|V|", what, error);
}

// First failure of f over causal and not.
template <class F>
std::string both_ways(F f) {
    for (const bool causal : {false, true}) {
        const std::string failure = f(causal);
        if (!failure.empty()) return failure;
    }
    return "";
}

std::string equals_definition(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        const Sample sample = make_sample(c);
        return compare(evaluate(op, c.kind, sample), definition(c.kind, sample), sample,
                       "loops over the definition");
    });
}

std::string simple_is_zero_bias(const Operator& op) {
    return both_ways([&](bool causal) {
        Sample full = make_sample({.kind = OperatorKind::full, .causal = causal});
        full.in.w.zero_();
        Sample simple = full;
        simple.in.w = at::Tensor();
        const at::Tensor y = evaluate(op, OperatorKind::simple, simple);
        std::string failure =
            compare(evaluate(op, OperatorKind::full, full), y, full, "full with w = 0");
        for (const int64_t s : {1, 4, 30, 99}) {
            full.options.window = s;
            if (failure.empty())
                failure = compare(evaluate(op, OperatorKind::local, full), y, full,
                                  fmt::format("local with w = 0, window {}", s));
        }
        return failure;
    });
}

std::string window_zero_is_simple(const Operator& op) {
    return both_ways([&](bool causal) {
        Sample local = make_sample({.kind = OperatorKind::local, .causal = causal, .window = 0});
        Sample simple = local;
        simple.in.w = at::Tensor();
        return compare(evaluate(op, OperatorKind::local, local),
                       evaluate(op, OperatorKind::simple, simple), local,
                       "local with window 0 = simple");
    });
}

std::string wide_window_is_full(const Operator& op) {
    return both_ways([&](bool causal) {
        Sample sample = make_sample({.kind = OperatorKind::full, .causal = causal});
        const at::Tensor y = evaluate(op, OperatorKind::full, sample);
        for (const int64_t s : {30, 31, 500}) {
            sample.options.window = s;
            const std::string failure =
                compare(evaluate(op, OperatorKind::local, sample), y, sample,
                        fmt::format("local with window {} >= T", s));
            if (!failure.empty()) return failure;
        }
        return std::string();
    });
}

// 0 outside the window, and the window's edge is |t - j| < s exactly.
std::string local_is_banded_full(const Operator& op) {
    return both_ways([&](bool causal) {
        Sample sample =
            make_sample({.kind = OperatorKind::local, .causal = causal, .bias_scale = 3});
        const at::Tensor y = evaluate(op, OperatorKind::local, sample);
        sample.in.w = sample.in.w.triu(-4).tril(4);
        return compare(y, evaluate(op, OperatorKind::full, sample), sample, "full with a banded w");
    });
}

// A convolution is, head by head, a full operator with a block-Toeplitz bias.
std::string conv_is_toeplitz_full(const Operator& op) {
    for (const OperatorKind kind : {OperatorKind::conv1d, OperatorKind::conv2d}) {
        const std::string failure = both_ways([&](bool causal) {
            const Sample conv = make_sample({.kind = kind, .causal = causal, .window = 3});
            const at::Tensor w = toeplitz(kind, conv);
            std::vector<at::Tensor> heads;
            for (int64_t i = 0; i < 2; ++i) {
                Sample full = conv;
                full.in.w = w[i];
                full.in.k = conv.in.k.narrow(2, i, 1).expand({-1, -1, 3}).contiguous();
                full.in.v = conv.in.v.narrow(2, 3 * i, 3).contiguous();
                full.in.q = conv.in.q.narrow(2, 3 * i, 3).contiguous();
                heads.push_back(evaluate(op, OperatorKind::full, full));
            }
            return compare(evaluate(op, kind, conv), at::cat(heads, 2), conv,
                           std::string(kind_name(kind)) + " = full with a block-Toeplitz w");
        });
        if (!failure.empty()) return failure;
    }
    return "";
}

std::string factors_are_their_product(const Operator& op) {
    for (const OperatorKind kind : {OperatorKind::full, OperatorKind::local}) {
        const std::string failure = both_ways([&](bool causal) {
            Sample sample = make_sample({.kind = kind, .causal = causal, .factors = 4});
            const at::Tensor y = evaluate(op, kind, sample);
            sample.in.w = at::matmul(sample.in.u, sample.in.r.t());
            sample.in.u = at::Tensor();
            sample.in.r = at::Tensor();
            return compare(y, evaluate(op, kind, sample), sample, "u r^T = its product");
        });
        if (!failure.empty()) return failure;
    }
    return "";
}

std::string key_shift_changes_nothing(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        Sample sample = make_sample(c);
        const at::Tensor y = evaluate(op, c.kind, sample);
        sample.in.k = sample.in.k + 8 * at::randn({c.batch, 1, sample.in.k.size(2)}, at::kDouble);
        return compare(evaluate(op, c.kind, sample), y, sample, "K shifted per channel");
    });
}

std::string row_shift_changes_nothing(const Operator& op) {
    return both_ways([&](bool causal) {
        Sample sample = make_sample({.kind = OperatorKind::full, .causal = causal});
        const at::Tensor y = evaluate(op, OperatorKind::full, sample);
        sample.in.w = sample.in.w + 8 * at::randn({30, 1}, at::kDouble);
        return compare(evaluate(op, OperatorKind::full, sample), y, sample, "w shifted per row");
    });
}

std::string constant_values_pass_through(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        Sample sample = make_sample(c);
        sample.in.k = sample.in.k - 30;  // an epsilon in the denominator would show
        sample.in.v =
            at::randn({c.batch, 1, c.dim}, at::kDouble).expand({-1, c.length, -1}).clone();
        return compare(evaluate(op, c.kind, sample), sample.in.q.sigmoid() * sample.in.v, sample,
                       "V constant must give sigmoid(Q) V");
    });
}

std::string prefix_is_parallel(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        if (!c.causal) return std::string();
        const Sample sample = make_sample(c);
        const int64_t n = 18;  // whole grid rows
        Sample start = sample;
        for (at::Tensor* x : {&start.in.q, &start.in.k, &start.in.v})
            *x = x->narrow(1, 0, n).clone();
        if (c.kind == OperatorKind::full || c.kind == OperatorKind::local) {
            if (start.in.w.defined())
                start.in.w = start.in.w.narrow(0, 0, n).narrow(1, 0, n).clone();
            for (at::Tensor* x : {&start.in.u, &start.in.r})
                if (x->defined()) *x = x->narrow(0, 0, n).clone();
        }
        if (c.kind == OperatorKind::conv2d) start.options.grid_height = n / c.grid_width;
        return compare(evaluate(op, c.kind, start), evaluate(op, c.kind, sample).narrow(1, 0, n),
                       sample, "the first tokens alone");
    });
}

std::string gate_is_a_factor(const Operator& op) {
    return all_aft([&](const OpsCase& c) {
        Sample sample = make_sample(c);
        const at::Tensor y = evaluate(op, c.kind, sample), gate = sample.in.q.sigmoid();
        sample.in.q = at::Tensor();
        return compare(y, gate * evaluate(op, c.kind, sample), sample, "sigmoid(Q) times no gate");
    });
}

}  // namespace

std::vector<OpsCheck> identity_checks() {
    return {{"definition", equals_definition},
            {"simple = zero bias", simple_is_zero_bias},
            {"window 0 = simple", window_zero_is_simple},
            {"wide window = full", wide_window_is_full},
            {"local = banded full", local_is_banded_full},
            {"conv = Toeplitz full", conv_is_toeplitz_full},
            {"factors = product", factors_are_their_product},
            {"key shift", key_shift_changes_nothing},
            {"row shift", row_shift_changes_nothing},
            {"constant values", constant_values_pass_through},
            {"prefix = parallel", prefix_is_parallel},
            {"gate", gate_is_a_factor}};
}

}  // namespace aft::ops::testing
