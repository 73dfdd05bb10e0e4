// What the kernels of the position biases take (scaling.h: references). Pointers and sizes only;
// no threads, no LibTorch.
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

// exp(w) of one target for a range of sources.
struct WeightRow {
    const float* w = nullptr;      // bias of sources [first, last)
    const double* wide = nullptr;  // the same in float64 (instead of w)
    int64_t first = 0, last = 0;   // visible with a bias
    int64_t begin = 0, end = 0;    // what to write
    float left = 0, right = 0;     // weights of [begin, first) and [last, end)
    float largest = 0;             // reference of the row
    float* out = nullptr;          // [end - begin], and kLanes more may be overwritten
};

// Position biases of kRows targets from their factors.
template <class T>
struct FactorProduct {
    const T* u = nullptr;  // [kRows, factors]
    const T* r = nullptr;  // [blocks, factors, lanes]
    int64_t factors = 0, blocks = 0;
    T* out = nullptr;  // [kRows, row]
    int64_t row = 0;
};
using WideProduct = FactorProduct<double>;
using ShortProduct = FactorProduct<float>;  // in sums of a few factors each

// One table for the operators with position biases: aft-full, aft-local and aft-conv.
struct BiasKernels {
    // Largest of x[0, n), n >= 1; infinity if one of them is not finite.
    float (*largest_of)(const float* x, int64_t n) = nullptr;
    float (*largest_of_wide)(const double* x, int64_t n) = nullptr;
    void (*weight_row)(const WeightRow&) = nullptr;
    void (*wide_product)(const WideProduct&) = nullptr;
    void (*short_product)(const ShortProduct&) = nullptr;
};

}  // namespace aft::ops::cpu
