// aft-full and aft-local (paper Eq. 2, 4, 7) on the CPU, sums in float32, tensors in float32 or
// bfloat16; forward and gradient, causal or not. Pointers and sizes only; runs on the calling
// thread's OpenMP team (LibTorch's own pool); results do not depend on the number of threads. No
// LibTorch.
//
// Cost: pairs inside the band (rounded up to kStep) times 4 d FLOP forward and 8 d backward, d per
// sample; memory O(B T d + T window). Sources outside the band enter through running sums.
#pragma once
#include <algorithm>

#include "model/ops/cpu/band/weights.h"

namespace aft::ops::cpu {

struct BandShape {
    int64_t batch = 0, length = 0, channels = 0;
    bool causal = false;
    BandBias bias;
    bool bf16 = false;  // forward: operands in bfloat16, where bf16_kernels() exist

    // The running sum stored for a step covers the rows before row `phase` of it: a causal window
    // begins there, or one row later in bfloat16, whose rows come in pairs.
    [[nodiscard]] int64_t phase() const {
        const int64_t row = ((1 - bias.window) % kStep + kStep) % kStep;
        return bf16 ? row / 2 * 2 : row;
    }
};

template <class T>  // float, or Bf16: how tensors are stored
struct BandForward {
    const T *q = nullptr, *k = nullptr, *v = nullptr;  // [B, T, d]; q may be none
    T* y = nullptr;                                    // [B, T, d]
    float *average = nullptr, *denominator = nullptr;  // [B, T, d] for the gradient, or none
};
// Whether every entry was safe. Of those that were not y is NaN and the denominator, where it is
// kept, kNeedsExact.
template <class T>
[[nodiscard]] bool band_forward(const BandShape& shape, const BandForward<T>& x);

struct BiasGradient {
    float* dw = nullptr;                 // [T, T], set to zero by the caller
    float *du = nullptr, *dr = nullptr;  // [T, factors], or these
};

template <class T>
struct BandGradient {
    const T *q = nullptr, *k = nullptr, *v = nullptr, *dy = nullptr;  // q may be none
    const float *average = nullptr, *denominator = nullptr;           // of band_forward
    const float* mean = nullptr;                                      // [B, d] about the mean of V
    float scale = 1;  // a power of two that brings dy near 1
    T *dq = nullptr, *dk = nullptr, *dv = nullptr;
    BiasGradient bias;
};
// Entries with denominator kNeedsExact send nothing (but dq).
template <class T>
[[nodiscard]] Norms band_gradient(const BandShape& shape, const BandGradient<T>& x);

// A contiguous range that products prefetch into the second-level cache while they compute: from
// the last-level cache two cores of a virtual Xeon read 14 to 19 GB/s only.
struct PrefetchRange {
    const char* at = nullptr;
    int64_t bytes = 0;

    // The next lines to prefetch, for a product of `steps` steps, in row blocks of `block` bytes.
    void next(int64_t steps, int64_t block, ProductExtras& out) {
        constexpr int64_t kMost = 24;  // more would queue up
        if (bytes <= 0) return;
        out.prefetch = at;
        out.prefetch_stride = block;
        out.prefetches = std::min({steps, kMost, (bytes + block - 1) / block});
        at += out.prefetches * block;
        bytes -= out.prefetches * block;
    }
};

// Shared by both passes: panels of samples and blocks of channels, whole or the last rows of each.
class Panels {
  public:
    struct Layout {
        int64_t blocks = 0;  // capacity
        int64_t rows = 0;    // kept of each, a multiple of kTile: row t lies at t % rows
        bool sums = false;
        bool bf16 = false;
    };
    Panels(const BandShape& shape, const Layout& plan);

    // One sample, one block of channels.
    struct ChannelBlock {
        int64_t sample = 0, first = 0, channels = 0;
        int64_t rows = 0, width = 0, every = kStep;  // rows from one running sum to the next
        float *panel = nullptr, *reference = nullptr, *state = nullptr;
        uint16_t* bf16 = nullptr;                   // instead of panel
        float *before = nullptr, *after = nullptr;  // running sums by step

        [[nodiscard]] const float* row(int64_t t) const { return panel + t % rows * width; }
        [[nodiscard]] const uint16_t* bf16_row(int64_t t) const { return bf16 + t % rows * width; }
        [[nodiscard]] float* reference_of(int64_t chunk) const {
            return reference + chunk * kTile % rows / kTile * (width / 2);
        }
        [[nodiscard]] int64_t step(int64_t t) const { return t % rows / every * width; }
        // Whether two chunks have the same references.
        [[nodiscard]] bool alike(int64_t chunk, int64_t other) const;
        // Whether a chunk and the next have the same references and are contiguous.
        [[nodiscard]] bool joined(int64_t chunk) const {
            return (chunk + 1) * kTile % rows != 0 && alike(chunk, chunk + 1);
        }
    };
    [[nodiscard]] static int64_t all_blocks(const BandShape& shape);
    // Block i of all, its panel kept in the given slot.
    [[nodiscard]] ChannelBlock block(int64_t i, int64_t slot);

    template <class T>
    struct Source {
        const T *k = nullptr, *v = nullptr;  // [B, T, d]
        const float* mean = nullptr;         // [B, d] or none
    };
    // In order of the chunks; causal only.
    template <class T>
    void pack_chunk(const ChannelBlock& block, const Source<T>& x, int64_t chunk) const;
    // All chunks of the block.
    template <class T>
    void pack(const ChannelBlock& block, const Source<T>& x) const;
    // These blocks, slots from 0 on.
    template <class T>
    void pack_all(const Source<T>& x, const IndexRange& blocks);
    [[nodiscard]] int64_t width() const { return 2 * kernels_.channels; }

  private:
    [[nodiscard]] int64_t sums_size() const;  // of a block
    template <class T>
    [[nodiscard]] PackKeys<T> arguments(const ChannelBlock& block, const Source<T>& x,
                                        int64_t chunk) const;

    const BandKernels& kernels_;
    BandShape shape_;
    Layout plan_;
    Buffer<float> panels_, references_, states_, before_, after_;
    Buffer<uint16_t> bf16_panels_;
};

}  // namespace aft::ops::cpu
