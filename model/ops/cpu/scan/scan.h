// aft-simple (paper Eq. 5) on the CPU, sums in float32, tensors in float32 or bfloat16; forward and
// gradient, causal or not: one sweep over memory. Runs on the calling thread's OpenMP team; results
// do not depend on the number of threads. No LibTorch.
#pragma once
#include "model/ops/cpu/scan/kernels.h"

namespace aft::ops::cpu {

struct ScanShape {
    int64_t batch = 0, length = 0, channels = 0;
    bool causal = false;
    // States of a sample that the gradient wants kept: before each chunk, or that of all rows.
    [[nodiscard]] int64_t kept() const {
        return causal ? (length + kCheckpointRows - 1) / kCheckpointRows : 1;
    }
    [[nodiscard]] int64_t states() const { return batch * kept() * 3 * channels; }  // floats
};

// Pointers to whole tensors [B, T, d]; q may be none; states: ScanShape::states() floats or none.
// Whether all sums were finite; if not (V near the end of float32, or NaN), y is not to be used.
template <class T>  // float, or Bf16
[[nodiscard]] bool scan_forward(const ScanShape& shape, const Scan<T>& x);
template <class T>
[[nodiscard]] Norms scan_gradient(const ScanShape& shape, const ScanGradient<T>& x);

}  // namespace aft::ops::cpu
