// What the kernels of aft-simple take (kernels.h). Pointers and sizes only. Tensors [B, T, d] are
// of T: float, or Bf16; all else is of float32.
#pragma once
#include "model/ops/cpu/scaling.h"

namespace aft::ops::cpu {

// aft-simple, one sample, a block of channels; strides in numbers.
template <class T>
struct Scan {
    const T *q = nullptr, *k = nullptr, *v = nullptr;
    int64_t stride = 0, length = 0, channels = 0;
    T* y = nullptr;
    bool streams = false;           // y and the gradients past the caches
    const float* before = nullptr;  // [3, state_row]: reference, N, D before the first row; or none
    float* states = nullptr;        // [ScanShape::kept(), 3, state_row], or none
    int64_t state_row = 0;
    int64_t prefetch_rows = 0;  // prefetch distance in rows; 0 = none (chunk.inl)
};
template <class T>
struct ScanGradient {
    Scan<T> forward;
    const T* dy = nullptr;
    T *dq = nullptr, *dk = nullptr, *dv = nullptr;
    Norms* norms = nullptr;  // one per vector of channels: the same however channels are shared out
};
constexpr int64_t kCheckpointRows = 32;  // rows between two kept states

// A chunk of one long causal sample (chunk.inl); of a gradient, kCheckpointRows rows.
template <class T>
struct ScanChunk {
    ScanGradient<T> rows;         // of these rows; the norms are not used
    const float* mean = nullptr;  // [channels], of V; gradient
    float* scratch = nullptr;     // ScanKernels::scratch_size(channels) floats; gradient
    // [3, state_row]: reference and sums of the chunk; then combined with `next`
    float* sums = nullptr;
    // The carry of the chunks before it (in a gradient: after it), or none.
    const float* next = nullptr;
    // Gradient: prefetch distance in rows, towards the first row; 0 = none.
    int64_t prefetch_rows = 0;
};
}  // namespace aft::ops::cpu
