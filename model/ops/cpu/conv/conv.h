// aft-conv (paper Eq. 6, 8) on the CPU, sums in float32, tensors in float32 or bfloat16; 1-d and
// on grids, forward and gradient, causal or not. Pointers and sizes only; runs on the calling
// thread's OpenMP team (LibTorch's own pool); results do not depend on the number of threads. No
// LibTorch.
#pragma once
#include "model/ops/cpu/conv/kernels.h"

namespace aft::ops::cpu {

struct ConvShape {
    int64_t batch = 0, length = 0, channels = 0, heads = 0;
    int64_t kernel = 0;                       // s
    int64_t grid_height = 1, grid_width = 0;  // T = height * width; 1-d: height 1
    bool flat = false;                        // 1-d: kernel [h, s], else [h, s, s]
    bool causal = false;
};

// Whole tensors: q, v, y, average [B, T, d], k, denominator [B, T, h], w [h, s (, s)]; q may be
// none, average and denominator are none unless a gradient is wanted.
template <class T>  // float, or Bf16: how tensors are stored
struct ConvForward {
    const T *q = nullptr, *k = nullptr, *v = nullptr;
    const float* w = nullptr;
    T* y = nullptr;
    float *average = nullptr, *denominator = nullptr;
};
// Whether all entries were safe. Of those that were not y is NaN and the denominator, where it is
// kept, kNeedsExact.
template <class T>
[[nodiscard]] bool conv_forward(const ConvShape& shape, const ConvForward<T>& x);

template <class T>
struct ConvGradient {
    const T *q = nullptr, *k = nullptr, *v = nullptr, *dy = nullptr;
    const float *w = nullptr, *average = nullptr, *denominator = nullptr;
    const float* mean = nullptr;                    // [B, d] about the mean of V
    float scale = 1;                                // of dy: a power of two
    T *dq = nullptr, *dk = nullptr, *dv = nullptr;  // dq none without q
    float* dw = nullptr;
};
template <class T>
[[nodiscard]] Norms conv_gradient(const ConvShape& shape, const ConvGradient<T>& x);

}  // namespace aft::ops::cpu
