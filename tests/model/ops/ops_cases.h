// What the operator tests share: samples of every operator, running one with gradients, errors
// measured as promised, an independent evaluation of the definition, checks and wrong operators.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "model/ops/aft.h"

namespace aft::ops::testing {

constexpr double kForward = 1e-5, kGradient = 2e-5;  // promised in float32
// Over the largest value, of up to 3 sources: exp of a rounded argument is off by 4 u and a sum by
// 3 u, above and below the line; the quotient and the gate by 1 u each: 16 u.
constexpr double kFewSources = 16 * 0x1p-24;

using Operator = std::function<at::Tensor(OperatorKind, const Inputs&, const Options&)>;

// apply() with the given backend; row_block for tiled (0 = chosen). Takes and answers tensors of
// the CPU; all but the CPU kernels compute on the test's device.
[[nodiscard]] Operator operator_of(OperatorBackend backend, int64_t row_block = 0);
// The reference on the CPU: the truth, given float64.
[[nodiscard]] Operator oracle();

// One operator call: sizes and flags. Kernels have width `window`.
struct OpsCase {
    OperatorKind kind = OperatorKind::full;
    bool causal = false;
    int64_t batch = 2, length = 30, dim = 6, heads = 2, window = 5, factors = 0;
    int64_t grid_width = 6;
    bool outside_hidden = false;
    double key_scale = 1, bias_scale = 1;
    uint64_t seed = 1;
};
struct Sample {
    Inputs in;  // float64
    Options options;
    at::Tensor dy;  // [B, T, d]
};
[[nodiscard]] Sample make_sample(const OpsCase& c);
[[nodiscard]] Sample rounded(Sample sample);  // to float32, kept in float64
[[nodiscard]] std::string describe(const OpsCase& c);
// Tests over random shapes: this many cases, 10000 where all tests are asked for; and one in forty
// long, up to 900 positions, with few channels so that the reference keeps up.
[[nodiscard]] uint64_t random_count(uint64_t usual);
void sometimes_long(OpsCase& c, CounterRng& rng);

// Every operator of the AFT family, with and without factors, causal and not.
[[nodiscard]] std::vector<OpsCase> aft_cases();

struct Result {
    at::Tensor y;
    std::vector<std::pair<std::string, at::Tensor>> gradients;  // "dq", "dk", ... float64
};
// Computes in `type`; answers in float64.
[[nodiscard]] Result run(const Operator& op, OperatorKind kind, const Sample& sample,
                         at::ScalarType type);
[[nodiscard]] Inputs converted(const Inputs& in, at::ScalarType type);

// The promise's measures. Forward: largest error over max|V|. Gradients: relative L2; a gradient
// that is truly zero is compared with 1 % of its natural size (that of dv times the size of V).
[[nodiscard]] double forward_error(const Result& found, const Result& truth, const Sample& sample);
struct GradientError {
    std::string name;
    double value = 0;
};
[[nodiscard]] GradientError gradient_error(const Result& found, const Result& truth,
                                           const Sample& sample);
// The CPU backend in float32 on one sample against float64: "" if all is as promised.
[[nodiscard]] std::string broken_promise(const OpsCase& c);
[[nodiscard]] double largest_difference(const at::Tensor& a, const at::Tensor& b);

// The definition as loops in long double, nothing shared with the backends.
[[nodiscard]] at::Tensor definition(OperatorKind kind, const Sample& sample);
// Bias of a convolution written out tap by tap: [h, T, T].
[[nodiscard]] at::Tensor toeplitz(OperatorKind kind, const Sample& sample);

// An identity or a trap of the operators: "" if the operator passes, else what went wrong.
struct OpsCheck {
    std::string name;
    std::function<std::string(const Operator&)> run;
};
// Inputs as float32, output as float64.
[[nodiscard]] at::Tensor evaluate(const Operator& op, OperatorKind kind, const Sample& sample);
// The first failure over aft_cases(), with the case's name in front; "" if there is none.
[[nodiscard]] std::string all_aft(const std::function<std::string(const OpsCase&)>& check);
[[nodiscard]] std::vector<OpsCheck> identity_checks();
[[nodiscard]] std::vector<OpsCheck> trap_checks();

// A wrong operator and the checks that must notice it.
struct Mutation {
    std::string name;
    Operator op;
    std::vector<std::string> noticed_by;
};
[[nodiscard]] std::vector<Mutation> mutations();
[[nodiscard]] Operator unmutated();  // the same code without its error

}  // namespace aft::ops::testing
