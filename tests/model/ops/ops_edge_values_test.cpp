// The CPU operators at the ends of float32: NaN with any payload, keys, queries and gradients as
// large as there are. Reference: float64. And that which decides about the exact path does not
// depend on the number of threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "model/ops/cpu/scan/scan.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

at::Tensor answer(const Operator& op, OperatorKind kind, const Inputs& in, const Options& options) {
    return op(kind, in, options).to(at::kDouble);
}

// Those of the results that are not NaN; NaN must be in the same places.
void expect_same(const at::Tensor& found, const at::Tensor& truth, const std::string& what) {
    EXPECT_TRUE(at::equal(found.isnan(), truth.isnan())) << what;
    EXPECT_LE(largest_difference(found.nan_to_num(0), truth.nan_to_num(0)), kForward * 10) << what;
}

float nan_of(uint32_t bits) {
    float out = 0;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}

// A NaN is one whatever its payload: quiet or signalling, with low bits or not.
TEST(OpsEdgeValues, nan_of_any_payload_reaches_the_rows_that_see_it) {
    for (const OpsCase& c : aft_cases())
        for (const uint32_t bits :
             {0x7fc00000U, 0x7fc00001U, 0x7f800001U, 0xffc000ffU, 0xffffffffU})
            for (const auto& [which, row] :
                 {std::pair{'q', 0}, {'k', 0}, {'k', 1}, {'v', 0}, {'v', 1}}) {
                const Sample s = make_sample(c);
                Inputs in = converted(s.in, at::kFloat);
                at::Tensor& x = which == 'q' ? in.q : which == 'k' ? in.k : in.v;
                x.data_ptr<float>()[row * x.size(2) + 1] = nan_of(bits);
                const at::Tensor truth =
                    answer(oracle(), c.kind, converted(in, at::kDouble), s.options);
                expect_same(answer(operator_of(OperatorBackend::cpu), c.kind, in, s.options), truth,
                            fmt::format("{} {:x} in {} of row {}", describe(c), bits, which, row));
            }
}

struct NotFinite {
    char which;  // k, v, u, r
    double value;
    OpsCase c;
    at::ScalarType type;
};
std::string describe(const NotFinite& x) {
    return fmt::format("{} {} in {} of {}", c10::toString(x.type), x.value, x.which, describe(x.c));
}

// One entry of row 17 (K and V: of the second sample) is not finite.
void expect_it_reaches_who_sees_it(const NotFinite& x) {
    Inputs in = converted(make_sample(x.c).in, x.type);
    at::Tensor& spoilt = x.which == 'k'   ? in.k
                         : x.which == 'v' ? in.v
                         : x.which == 'u' ? in.u
                                          : in.r;
    (spoilt.dim() == 3 ? spoilt[1] : spoilt)[17][2] = x.value;
    Options options;
    options.causal = x.c.causal;
    options.window = x.c.kind == OperatorKind::local ? x.c.window : 0;
    const at::Tensor truth = answer(oracle(), x.c.kind, converted(in, at::kDouble), options);
    const at::Tensor found = answer(operator_of(OperatorBackend::cpu), x.c.kind, in, options);
    const at::Tensor bad = truth.isfinite().logical_not();
    EXPECT_TRUE(bad.any().item<bool>() && !bad.all().item<bool>()) << describe(x);
    EXPECT_TRUE(at::equal(found.isfinite().logical_not(), bad)) << describe(x);
    EXPECT_LE(largest_difference(found.masked_fill(bad, 0), truth.masked_fill(bad, 0)),
              x.type == at::kFloat ? 1e-4 : 3e-2)
        << describe(x);
}

// Causal, and local of 25: before row 17, or far from it, nobody sees it. Sizes of whole tiles and
// odd ones, of one block and several.
TEST(OpsEdgeValues, what_is_not_finite_in_keys_values_and_factors) {
    for (const OperatorKind kind : {OperatorKind::full, OperatorKind::local})
        for (const int64_t length : {40, 200})
            for (const int64_t dim : {32, 37})
                for (const auto type : {at::kFloat, at::kBFloat16})
                    for (const double value : {double{NAN}, double{INFINITY}})
                        for (const char which : {'k', 'v', 'u', 'r'})
                            expect_it_reaches_who_sees_it({which,
                                                           value,
                                                           {.kind = kind,
                                                            .causal = true,
                                                            .length = length,
                                                            .dim = dim,
                                                            .window = 25,
                                                            .factors = 6},
                                                           type});
}

struct Ends {
    const char* name;
    at::Tensor (*shape)(const at::Tensor& x);  // of N(0, 1)
};
const std::vector<Ends>& ends() {
    using at::Tensor;
    static const auto row_of = [](const Tensor& x, int64_t row, double value) {
        Tensor out = x.clone();
        out.select(1, row).fill_(value);
        return out;
    };
    static const std::vector<Ends> list{
        {"-3e38", [](const Tensor& x) { return at::full_like(x, -3e38); }},
        {"3e38", [](const Tensor& x) { return at::full_like(x, 3e38); }},
        {"lowest", [](const Tensor& x) { return at::full_like(x, -kLargest); }},
        {"largest", [](const Tensor& x) { return at::full_like(x, kLargest); }},
        {"1e6 N", [](const Tensor& x) { return x * 1e6; }},
        {"1e6 + N", [](const Tensor& x) { return x + 1e6; }},
        {"1e10", [](const Tensor& x) { return at::full_like(x, 1.00007e10); }},
        {"-1e10", [](const Tensor& x) { return at::full_like(x, -1.00007e10); }},
        {"1e12 N", [](const Tensor& x) { return x * 1e12; }},
        {"1e38 sin", [](const Tensor& x) { return (x * 5).sin() * kLargest; }},
        {"lowest first", [](const Tensor& x) { return row_of(x, 0, -kLargest); }},
        {"lowest later", [](const Tensor& x) { return row_of(x, 3, -kLargest); }},
        {"largest later", [](const Tensor& x) { return row_of(x, 3, kLargest); }}};
    return list;
}

TEST(OpsEdgeValues, any_finite_key) {
    for (const Ends& e : ends())
        for (OpsCase c : aft_cases()) {
            c.length = c.kind == OperatorKind::conv2d ? 30 : 37;
            Sample s = make_sample(c);
            s.in.k = e.shape(s.in.k);
            s.in = converted(converted(s.in, at::kFloat), at::kDouble);
            const Result truth = run(oracle(), c.kind, s, at::kDouble);
            const Result found = run(operator_of(OperatorBackend::cpu), c.kind, s, at::kFloat);
            EXPECT_LE(forward_error(found, truth, s), kForward) << e.name << ", " << describe(c);
            for (const auto& [name, g] : found.gradients)
                EXPECT_TRUE(g.isfinite().all().item<bool>())
                    << name << ", " << e.name << ", " << describe(c);
        }
}

// One long sample, whose chunks begin and end at such keys.
TEST(OpsEdgeValues, any_finite_key_in_a_chain) {
    for (const Ends& e : ends()) {
        Sample s = make_sample(
            {.kind = OperatorKind::simple, .causal = true, .batch = 1, .length = 1100, .dim = 128});
        for (const int64_t chunk : {0, 512}) {
            at::Tensor part = s.in.k.narrow(1, chunk, 256);
            part.copy_(e.shape(part));
        }
        s.in = converted(converted(s.in, at::kFloat), at::kDouble);
        const Result truth =
            run(operator_of(OperatorBackend::tiled), OperatorKind::simple, s, at::kDouble);
        const Result found =
            run(operator_of(OperatorBackend::cpu), OperatorKind::simple, s, at::kFloat);
        EXPECT_LE(forward_error(found, truth, s), kForward) << e.name;
        EXPECT_LE(gradient_error(found, truth, s).value, kGradient) << e.name;
    }
}

TEST(OpsEdgeValues, any_finite_query) {
    for (const Ends& e : ends())
        for (const OpsCase& c : aft_cases()) {
            Sample s = make_sample(c);
            s.in.q = e.shape(s.in.q);
            s.in = converted(converted(s.in, at::kFloat), at::kDouble);
            const Result truth = run(oracle(), c.kind, s, at::kDouble);
            const Result found = run(operator_of(OperatorBackend::cpu), c.kind, s, at::kFloat);
            EXPECT_LE(forward_error(found, truth, s), kForward) << e.name << ", " << describe(c);
            for (std::size_t i = 0; i < truth.gradients.size();
                 ++i) {  // below 1e-20 all are shut off
                const at::Tensor& t = truth.gradients[i].second;
                EXPECT_LE(largest_difference(found.gradients[i].second, t),
                          kGradient * t.abs().max().item<double>() + 1e-20)
                    << truth.gradients[i].first << ", " << e.name << ", " << describe(c);
            }
        }
}

// Every kernel flushes them, as products with them are slow; the caller's own
// arithmetic is left as it was.
TEST(OpsEdgeValues, results_below_the_normal_numbers_are_zero) {
    const unsigned before = _mm_getcsr();
    for (const OpsCase& c : aft_cases()) {
        Sample s = make_sample(c);
        s.in.v.mul_(1e-40);
        EXPECT_GT(
            evaluate(operator_of(OperatorBackend::tiled), c.kind, s).abs().max().item<double>(), 0);
        EXPECT_EQ(evaluate(operator_of(OperatorBackend::cpu), c.kind, s).abs().max().item<double>(),
                  0)
            << describe(c);
        EXPECT_EQ(_mm_getcsr() & _MM_FLUSH_ZERO_MASK, before & _MM_FLUSH_ZERO_MASK);
    }
}

// Sums of dY that float32 does not hold, though every gradient is one.
TEST(OpsEdgeValues, gradients_of_huge_losses) {
    for (const bool causal : {false, true})
        for (const double size : {1e36, 1e37, 1e38}) {
            Sample s = make_sample(
                {.kind = OperatorKind::simple, .causal = causal, .length = 100, .dim = 16});
            s.dy = (1 + s.dy.sigmoid()) * size;
            s.in = converted(converted(s.in, at::kFloat), at::kDouble);
            s.dy = s.dy.to(at::kFloat).to(at::kDouble);
            const Result truth = run(oracle(), OperatorKind::simple, s, at::kDouble);
            const Result found =
                run(operator_of(OperatorBackend::cpu), OperatorKind::simple, s, at::kFloat);
            for (std::size_t i = 0; i < truth.gradients.size(); ++i) {
                const at::Tensor t =
                    truth.gradients[i].second.to(at::kFloat).to(at::kDouble) / size;
                const at::Tensor f = found.gradients[i].second / size;
                EXPECT_LE(largest_difference(f, t), kGradient * t.abs().max().item<double>())
                    << truth.gradients[i].first << ", " << size << (causal ? ", causal" : "");
            }
        }
}

struct SquareSums {  // what is_trusted() judges, and the dK that they are of
    cpu::Norms norms;
    at::Tensor dk;
};
SquareSums squares_of(int64_t length, int64_t dim, bool causal) {
    const cpu::ScanShape shape{.batch = 1, .length = length, .channels = dim, .causal = causal};
    const Sample s = make_sample(
        {.kind = OperatorKind::simple, .causal = causal, .batch = 1, .length = length, .dim = dim});
    const Inputs in = converted(s.in, at::kFloat);
    const at::Tensor dy = s.dy.to(at::kFloat) * 1e-3, states = at::empty({shape.states()}),
                     dk = at::empty_like(dy), dv = at::empty_like(dy);
    const cpu::Scan<float> forward{.k = in.k.data_ptr<float>(),
                                   .v = in.v.data_ptr<float>(),
                                   .y = dk.data_ptr<float>(),
                                   .states = states.data_ptr<float>()};
    EXPECT_TRUE(cpu::scan_forward(shape, forward));
    return {cpu::scan_gradient<float>(shape, {.forward = forward,
                                              .dy = dy.data_ptr<float>(),
                                              .dk = dk.data_ptr<float>(),
                                              .dv = dv.data_ptr<float>()}),
            dk};
}

// They have the same bits however the channels, or the chunks of a scan, are shared out.
TEST(OpsEdgeValues, trust_does_not_depend_on_the_number_of_threads) {
    const int before = at::get_num_threads();
    const auto norms = [](int threads, int64_t length, int64_t d, bool causal) {
        at::set_num_threads(threads);
        return squares_of(length, d, causal).norms;
    };
    for (const bool causal : {true, false})
        for (const int64_t length : {90, 1100})
            for (const int64_t d : {100, 200, 256, 1000}) {
                const cpu::Norms one = norms(1, length, d, causal);
                for (const int threads : {2, 3, 4}) {
                    const cpu::Norms more = norms(threads, length, d, causal);
                    EXPECT_EQ(one.left, more.left) << length << " " << d << " " << threads;
                    EXPECT_EQ(one.part, more.part) << length << " " << d << " " << threads;
                }
            }
    at::set_num_threads(before);
}

// Lanes past the last channel add nothing to them, nor in a chunked scan.
TEST(OpsEdgeValues, norms_are_those_of_the_gradient) {
    for (const int64_t length : {90, 1100})
        for (const int64_t d : {1, 20, 33, 64}) {
            const SquareSums found = squares_of(length, d, true);
            const double squares = found.dk.to(at::kDouble).square().sum().item<double>();
            EXPECT_NEAR(found.norms.left, squares, 1e-4 * squares) << length << " " << d;
        }
}

}  // namespace
}  // namespace aft::ops::testing
