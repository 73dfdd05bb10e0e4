// exp(w) of a full or local position bias in rectangles of targets and sources, scaled row by row.
// Made once per operator call, read by all threads; scratch belongs to the caller. No LibTorch.
#pragma once
#include <vector>

#include "model/ops/common/index_range.h"
#include "model/ops/cpu/band/kernels.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::ops::cpu {

struct BandBias {
    int64_t window = 0;   // |t - j| < window has a bias; T for aft-full
    bool hidden = false;  // sources outside the window are invisible, else they count with w = 0
    const float* w = nullptr;  // [T, w_row]
    int64_t w_row = 0;
    const float *u = nullptr, *r = nullptr;  // [T, factors] instead of w
    int64_t factors = 0;
};

// Scratch of one thread: the products of factors for kRows targets, kept for the next call.
struct WeightScratch {
    Buffer<double> u, row;
    Buffer<float> short_u, short_row;           // instead, where the factors are small
    int64_t target = -1, first = 0, width = 0;  // what row holds: from source `first` on
    IndexRange held;
};

// Reference of each target, and the weight of the sources outside its window (0: hidden, or none).
struct RowScales {
    explicit RowScales(int64_t rows) : largest(rows, true), outside(rows, true) {}
    Buffer<float> largest, outside;
};

class BandWeights {
  public:
    BandWeights(const BandBias& bias, int64_t length, bool causal);

    [[nodiscard]] IndexRange window(int64_t target) const;
    // Union of the windows of targets [row, row + kRows), from row `phase` of a step to a whole
    // step, clipped to the sequence.
    [[nodiscard]] IndexRange sources(int64_t row, int64_t phase) const;
    // Targets whose windows intersect [begin, end), aligned to steps, clipped to the sequence.
    [[nodiscard]] IndexRange targets(int64_t begin, int64_t end) const;

    [[nodiscard]] WeightScratch scratch() const;
    // Scales of targets [row, row + kRows), written from scales[at] on.
    void measure(int64_t row, RowScales& scales, int64_t at, WeightScratch& scratch) const;
    // Weights of targets [row, row + kRows) for the sources: out[i * out_row + j - begin]; up to
    // 16 floats behind each row are overwritten.
    struct Into {
        int64_t row = 0;
        IndexRange sources;
        const RowScales& scales;
        int64_t at = 0;  // of row in scales
        float* out = nullptr;
        int64_t out_row = 0;
    };
    void fill(const Into& into, WeightScratch& scratch) const;

    [[nodiscard]] int64_t length() const { return length_; }
    [[nodiscard]] int64_t padded() const { return padded_; }  // length rounded up to kTile

  private:
    // Where |w| is bounded by this (Cauchy-Schwarz) its factors are multiplied in float32: the
    // rounding error is then of the size of float32's own rounding of w.
    static constexpr float kShort = 16;

    void hold_factors();
    void multiply(int64_t row, IndexRange sources, WeightScratch& scratch) const;
    void measure_row(int64_t target, float largest_bias, RowScales& scales, int64_t at) const;

    const BandKernels& kernels_;
    BandBias bias_;
    int64_t length_ = 0, padded_ = 0;
    bool causal_ = false;
    bool is_short_ = false;
    Buffer<double> r_;       // [blocks, factors, lanes]
    Buffer<float> short_r_;  // the same, instead
};

}  // namespace aft::ops::cpu
