// aft-full and aft-local (paper Eq. 2, 4, 7) on the CPU in float32, forward and gradient, causal or
// not. Pointers and sizes only; runs on the calling thread's OpenMP team (LibTorch's own pool);
// results do not depend on the number of threads. No LibTorch.
//
// Cost: pairs inside the band (rounded up to kStep) times 4 d FLOP forward and 8 d backward, d per
// sample; memory O(B T d + T window). Sources outside the band enter through running sums.
#pragma once
#include "model/ops/cpu/weights.h"

namespace aft::ops::cpu {

struct BandShape {
    int64_t batch = 0, length = 0, channels = 0;
    bool causal = false;
    BandBias bias;
};

struct BandForward {
    const float *q = nullptr, *k = nullptr, *v = nullptr;  // [B, T, d]; q may be none
    float* y = nullptr;                                    // [B, T, d]
    float *average = nullptr, *denominator = nullptr;      // [B, T, d] for the gradient, or none
};
// Whether every entry was safe. Those that were not have denominator kTaken.
[[nodiscard]] bool band_forward(const BandShape& shape, const BandForward& x);

struct BandGradient {
    const float *q = nullptr, *k = nullptr, *v = nullptr, *dy = nullptr;  // q may be none
    const float *average = nullptr, *denominator = nullptr;               // of band_forward
    const float* mean = nullptr;  // [B, d] about the mean of V
    float scale = 1;              // a power of two that brings dy near 1
    float *dq = nullptr, *dk = nullptr, *dv = nullptr;
    float* dw = nullptr;                 // [T, T], set to zero by the caller
    float *du = nullptr, *dr = nullptr;  // [T, factors], or these
};
// Entries with denominator kTaken send nothing (but dq).
[[nodiscard]] Norms band_gradient(const BandShape& shape, const BandGradient& x);

// Shared by both passes: panels of all samples and blocks of channels.
class Panels {
  public:
    Panels(const BandShape& shape, bool with_sums);
    // mean: [B, d] or none
    void pack(const float* k, const float* v, const float* mean);

    struct Block {  // one sample, one block of channels
        int64_t sample = 0, first = 0, channels = 0;
        float *panel = nullptr, *reference = nullptr, *before = nullptr, *after = nullptr;
    };
    [[nodiscard]] Block block(int64_t i);
    [[nodiscard]] int64_t count() const { return shape_.batch * per_sample_; }
    [[nodiscard]] int64_t width() const { return 2 * kernels_.channels; }
    // Whether two chunks of a block have the same references.
    [[nodiscard]] bool alike(const Block& block, int64_t chunk, int64_t other) const;

  private:
    const Kernels& kernels_;
    BandShape shape_;
    int64_t per_sample_ = 0, chunks_ = 0, steps_ = 0;
    Buffer<float> panels_, references_, before_, after_;
};

}  // namespace aft::ops::cpu
