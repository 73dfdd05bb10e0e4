// One thing to compute, given to ours and to every peer: tensors, what is wanted, what it must
// cost. LibTorch inside; bench/ only, on the thread that runs the benchmark.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "model/ops/aft.h"

namespace aft::bench {

using Tensors = std::vector<at::Tensor>;

// What a row of the contract asks for; shown as text, never asserted.
struct Accept {
    std::string group = {}, precision = {};  // the peers meant; empty = all
    double ratio = 0;                        // at least
};

struct Problem {
    std::string name;  // "S1, B=4": unique in its workload
    ops::OperatorKind kind = ops::OperatorKind::simple;
    ops::Inputs in;        // float32
    ops::Options options;  // backend unused
    std::string group;     // of the peers meant; empty = all that compute it
    bool backward = false;
    at::Tensor dy;                   // backward: [B, T, d]
    double accept_x_limit = 0;       // at most; 0 = none
    double accept_x_limit_bf16 = 0;  // of ours in bfloat16, over the limit in bfloat16
    std::vector<Accept> accept;
};

struct Shape {
    std::string name;
    int64_t batch = 1, length = 1, width = 1, factors = 64;
};
inline const Shape kS1{"S1 B=4 T=3072 d=256", 4, 3072, 256};
inline const Shape kS2{"S2 B=8 T=1024 d=512", 8, 1024, 512};
inline const Shape kS4{"S4 B=1 T=65536 d=256", 1, 65536, 256};

// Ordinary data: Q, K, V ~ N(0, 1); full and local get factors u, r with w ~ 0.5 N(0, 1).
[[nodiscard]] Problem make_problem(ops::OperatorKind kind, const Shape& shape,
                                   const ops::Options& options);
[[nodiscard]] Problem backward_of(Problem problem);
[[nodiscard]] Shape tiny(Shape shape);  // for --quick

// By the definition: pairs inside the band only, no padding (Q, K, V in, Y out; float32). Of the
// convolutions K has one channel a head, and so have its sums.
struct Cost {
    double flop = 0, bytes = 0;
};
[[nodiscard]] Cost cost_of(const Problem& problem);

// The tensors that get gradients, in this order: q, k, v, then w or u, r if defined.
[[nodiscard]] Tensors leaves_of(const ops::Inputs& in);

// The problem in float64: {y}, or the gradients of the leaves. With `other`, that function of Q, K,
// V on the first sample instead.
using Function = std::function<at::Tensor(const ops::Inputs& in)>;
[[nodiscard]] Tensors exact(const Problem& problem, const Function& other = {});

// max |found - wanted| over max |wanted|, the worst of all tensors; the wanted may hold the first
// samples only. NaN if found has any.
[[nodiscard]] double error_of(const Tensors& found, const Tensors& wanted);

// The same of the last rows alone, [1, T, d] of one causal sample: for long sequences.
[[nodiscard]] double tail_error(const Problem& problem, const at::Tensor& found);

}  // namespace aft::bench
