// aft-simple on the CPU where other tests do not go: long single samples, which are a chunked
// prefix scan, and inputs at the ends of float32. The truth of causal calls is one running sum per
// channel in float64, O(T d), so that every case may be long.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/rng.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

struct ScanSums {  // of one channel: log of the denominator, average
    std::vector<double> log, average;
};

ScanSums summed(const double* k, const double* v, int64_t T, int64_t d) {
    ScanSums out{std::vector<double>(T), std::vector<double>(T)};
    double m = k[0], N = 0, D = 0;
    for (int64_t t = 0; t < T; ++t) {
        const double top = std::max(m, k[t * d]), fall = std::exp(m - top);
        const double x = std::exp(k[t * d] - top);
        m = top;
        N = N * fall + x * v[t * d];
        D = D * fall + x;
        out.log[t] = m + std::log(D);
        out.average[t] = N / D;
    }
    return out;
}

// Sums over later targets are kept relative to the denominator of their first: nothing overflows.
Result causal_truth(const Sample& s) {
    const int64_t T = s.in.v.size(1), d = s.in.v.size(2);
    const at::Tensor y = at::empty_like(s.in.v), dq = at::empty_like(y), dk = at::empty_like(y),
                     dv = at::empty_like(y);
    for (int64_t c = 0; c < d; ++c) {
        const auto of = [&](const at::Tensor& x) { return x.data_ptr<double>() + c; };
        const double *q = of(s.in.q), *k = of(s.in.k), *v = of(s.in.v), *dy = of(s.dy);
        const ScanSums sums = summed(k, v, T, d);
        double G = 0, H = 0;
        for (int64_t t = T - 1; t >= 0; --t) {
            const int64_t i = t * d;
            const double gate = 1 / (1 + std::exp(-q[i])), P = dy[i] * gate, R = sums.average[t];
            const double fall = t + 1 < T ? std::exp(sums.log[t] - sums.log[t + 1]) : 0;
            G = P + fall * G;
            H = P * R + fall * H;
            const double x = std::exp(k[i] - sums.log[t]);
            of(y)[i] = gate * R;
            of(dq)[i] = P * R * (1 - gate);
            of(dk)[i] = x * (G * v[i] - H);
            of(dv)[i] = x * G;
        }
    }
    return {.y = y, .gradients = {{"dq", dq}, {"dk", dk}, {"dv", dv}}};
}

// As scan.cpp divides a sample: a change there only moves the ends.
int64_t chunk_of(int64_t dim) {
    return std::clamp<int64_t>(32768 / dim / 32, 1, 32) * 32;
}

struct Keys {
    const char* name;
    at::Tensor (*shape)(const at::Tensor& normal, const at::Tensor& row, int64_t chunk);
};
const std::vector<Keys>& key_shapes() {
    using at::Tensor;
    static const std::vector<Keys> list{
        {"N/10", [](const Tensor& n, const Tensor&, int64_t) { return n * 0.1; }},
        {"N", [](const Tensor& n, const Tensor&, int64_t) { return n; }},
        {"3 N", [](const Tensor& n, const Tensor&, int64_t) { return n * 3; }},
        {"12 N", [](const Tensor& n, const Tensor&, int64_t) { return n * 12; }},
        {"rising", [](const Tensor& n, const Tensor& t, int64_t) { return n + t * 0.02; }},
        {"falling", [](const Tensor& n, const Tensor& t, int64_t) { return n - t * 0.02; }},
        {"chunks rise", [](const Tensor& n, const Tensor& t,
                           int64_t chunk) { return n + (t / chunk).floor() * 5; }},
        {"chunks fall", [](const Tensor& n, const Tensor& t,
                           int64_t chunk) { return n - (t / chunk).floor() * 5; }},
        {"first of a chunk stands out",
         [](const Tensor& n, const Tensor& t, int64_t chunk) {
             return n + (t.remainder(chunk) == 0).to(at::kDouble) * 6;
         }},
        {"last of a chunk stands out",
         [](const Tensor& n, const Tensor& t, int64_t chunk) {
             return n + (t.remainder(chunk) == chunk - 1).to(at::kDouble) * 6;
         }},
        {"saw-tooth of 200", [](const Tensor& n, const Tensor& t,
                                int64_t) { return n + t.remainder(32) * (200.0 / 31) - 100; }},
        {"spikes of 100", [](const Tensor& n, const Tensor& t,
                             int64_t) { return n + (t.remainder(37) == 5).to(at::kDouble) * 100; }},
        {"+-1000", [](const Tensor& n, const Tensor&, int64_t) { return (n * 9).sin() * 1000; }}};
    return list;
}

Sample chunked_sample(uint64_t i, const Keys& keys) {
    CounterRng rng(43, i);
    const int64_t dim = std::array{1, 16, 33, 64, 100, 128, 256, 520}[i % 8];
    const int64_t chunk = chunk_of(dim);
    Sample s = make_sample({.kind = OperatorKind::simple,
                            .causal = true,
                            .batch = 1,
                            .length = std::max<int64_t>(1024, 2 * chunk + 1) + rng.below(500),
                            .dim = dim,
                            .seed = i + 1});
    const at::Tensor row = at::arange(s.in.k.size(1), at::kDouble).view({1, -1, 1});
    s.in.k = keys.shape(s.in.k, row, chunk).contiguous();
    return rounded(s);
}

void expect_true(const Sample& s, const Result& truth, const std::string& what) {
    const Result found =
        run(operator_of(OperatorBackend::cpu), OperatorKind::simple, s, at::kFloat);
    EXPECT_LE(forward_error(found, truth, s), kForward) << what;
    const GradientError g = gradient_error(found, truth, s);
    EXPECT_LE(g.value, kGradient) << g.name << ", " << what;
}

TEST(OpsScan, truth_is_the_reference) {
    for (const Keys& keys : key_shapes()) {
        Sample s =
            make_sample({.kind = OperatorKind::simple, .causal = true, .batch = 1, .length = 150});
        s.in.k = keys.shape(s.in.k, at::arange(150, at::kDouble).view({1, -1, 1}), 50).contiguous();
        const Result reference = run(oracle(), OperatorKind::simple, s, at::kDouble);
        const Result truth = causal_truth(s);
        EXPECT_LE(forward_error(truth, reference, s), 1e-12) << keys.name;
        EXPECT_LE(gradient_error(truth, reference, s).value, 1e-10) << keys.name;
    }
}

// At least three chunks each: a sum goes through one that is neither the first nor the last.
TEST(OpsScan, many_chunks) {
    uint64_t i = 0;
    for (const Keys& keys : key_shapes())
        for (int repeat = 0; repeat < 3; ++repeat, ++i) {
            const Sample s = chunked_sample(i, keys);
            expect_true(s, causal_truth(s),
                        fmt::format("{}, T={} d={}", keys.name, s.in.v.size(1), s.in.v.size(2)));
        }
}

TEST(OpsScan, chunked_scans_have_the_same_bits_for_any_number_of_threads) {
    const int before = at::get_num_threads();
    for (uint64_t i = 0; i < 8; ++i) {
        const Sample s = chunked_sample(100 + i, key_shapes()[i % key_shapes().size()]);
        at::set_num_threads(1);
        const Result one =
            run(operator_of(OperatorBackend::cpu), OperatorKind::simple, s, at::kFloat);
        for (const int threads : {2, 3}) {
            at::set_num_threads(threads);
            const Result more =
                run(operator_of(OperatorBackend::cpu), OperatorKind::simple, s, at::kFloat);
            EXPECT_TRUE(at::equal(one.y, more.y)) << i << " " << threads;
            for (std::size_t g = 0; g < one.gradients.size(); ++g)
                EXPECT_TRUE(at::equal(one.gradients[g].second, more.gradients[g].second))
                    << one.gradients[g].first << i << " " << threads;
        }
    }
    at::set_num_threads(before);
}

// What every gradient obeys, without any reference, at lengths where one would be slow: a constant
// added to a channel of K changes nothing, and the weights of a row sum to 1.
TEST(OpsScan, gradients_sum_to_what_the_definition_says) {
    for (OpsCase c : aft_cases()) {
        c.batch = 1;
        c.length = 1100;
        c.dim = 64;
        c.grid_width = 20;
        const Sample s = rounded(make_sample(c));
        const Result found = run(operator_of(OperatorBackend::cpu), c.kind, s, at::kFloat);
        const at::Tensor sent = s.dy * s.in.q.sigmoid();
        for (const auto& [name, g] : found.gradients) {
            if (name != "dk" && name != "dv") continue;
            const at::Tensor sum = name == "dk" ? g.sum(1) : (g - sent).sum(1);
            EXPECT_LE(sum.abs().max().item<double>(), 1e-4 * g.abs().sum(1).max().item<double>())
                << name << ", " << describe(c);
        }
    }
}

}  // namespace
}  // namespace aft::ops::testing
