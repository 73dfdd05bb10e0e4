// The AFT operators: contract, checks, and the only place that chooses a backend. No layers, no
// parameters.
//
//   Y[t,c] = sigmoid(Q[t,c]) * sum_j exp(K[j,c] + w[t,j]) V[j,c] / sum_j exp(K[j,c] + w[t,j])
//
// (Zhai et al. 2021, Eq. 2; t target, j visible source).
//
// Every operator is differentiable through LibTorch's autograd. Called on the thread that owns the
// tensors. Accuracy for |K|, |w| <= 1000 (or lower ones beside those): 1e-5 of max|V| forward, 2e-5
// relative L2 for gradients; with operands in bfloat16 1e-2 forward, gradients stored in bfloat16
// 6e-3. Finite for every finite input; NaN or infinity reaches exactly the rows that see it.
// Errors: aft::Error naming the tensor and both shapes.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace aft::ops {

enum class OperatorKind { simple, full, local, conv1d, conv2d, softmax, linear };

// reference: plain tensor calls in float64, exact for all of the promised range (the oracle).
// tiled: row blocks of separable exp-GEMMs; every block checks its own scaling and takes the exact
// path where that is not safe. cpu: our own vector kernels; all of AFT in float32 or bfloat16.
// automatic: cpu where it can, else tiled.
enum class OperatorBackend {
    automatic,
#define AFT_BACKEND(name) name,
#include "model/ops/backends.inl"
#undef AFT_BACKEND
};

struct Inputs {
    // [B, T, d]; k of conv: [B, T, h]. float32 or float64, all alike; or bfloat16, then w, u, r in
    // float32 or bfloat16. q undefined = no gate
    at::Tensor q, k, v;
    // The effective bias. full, local: [T, T] target-major; conv1d: [h, s]; conv2d: [h, s, s]
    at::Tensor w;
    at::Tensor u, r;  // full, local with factors: [T, d'], w = u r^T (instead of w)
};

struct Options {
    bool causal = false;
    int64_t window = 0;  // local: |t - j| < window has w, 0 outside; 0 = no position bias at all
    // local, conv1d, conv2d: sources outside the window are invisible (w = -inf there)
    bool outside_hidden = false;
    int64_t grid_height = 0, grid_width = 0;  // conv2d: T = grid_height * grid_width
    OperatorBackend backend = OperatorBackend::automatic;
    int64_t row_block = 0;  // tiled: rows of a block, 0 = chosen
    // cpu, full and local, where no gradient is wanted: exp(w), exp(K) and exp(K) V enter the
    // products in bfloat16, sums are of float32. Where the processor cannot, all is float32.
    // Implied by inputs in bfloat16.
    bool bf16_operands = false;
};

// y [B, T, d], dtype of v. Accumulates as the backend promises.
[[nodiscard]] at::Tensor apply(OperatorKind kind, const Inputs& in, const Options& options);

[[nodiscard]] OperatorKind parse_kind(const std::string& name);  // usage Error lists the names
[[nodiscard]] std::vector<std::string> kind_names();
[[nodiscard]] OperatorBackend parse_backend(const std::string& name);  // likewise
[[nodiscard]] std::vector<std::string> backend_names();                // all but automatic
[[nodiscard]] const char* kind_name(OperatorKind kind);

// Dense effective bias with everything invisible at -inf: [T, T] or [h, T, T]. For tests, probes,
// small T.
[[nodiscard]] at::Tensor dense_bias(OperatorKind kind, const Inputs& in, const Options& options,
                                    int64_t T);

// Number of row blocks that took the exact path since the process started (any thread may read).
[[nodiscard]] int64_t exact_blocks();

}  // namespace aft::ops
