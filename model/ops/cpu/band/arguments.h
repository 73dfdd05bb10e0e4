// What the kernels of the banded operators take: one plain struct each. All of float32 but for
// tensors of T: float, or Bf16. No LibTorch.
//
// Panels. Channels are handled in blocks of `channels` (C). The operand of a block is a panel
// [T', 2C], T' = T rounded up to kTile: row j holds exp(K_j) V_j of the C channels, then exp(K_j)
// (in the backward pass the factors A and C of a target). A matrix product with a panel therefore
// gives numerator and denominator side by side.
#pragma once
#include "model/ops/cpu/scaling.h"

namespace aft::ops::cpu {

constexpr int64_t kRows = 6;  // rows of the register tile
constexpr int64_t kBlocks = kTile / kRows;
constexpr int64_t kStep = 6;  // running sums are kept for every kStep rows
constexpr float kRise = 8;    // bits by which a key may exceed its reference

// Up to kTile rows of one sample and block of channels, from a multiple of kTile on. T: how tensors
// are stored, float or Bf16.
template <class T>
struct PackKeys {
    const T *k = nullptr, *v = nullptr;          // [rows, stride]
    const float* mean = nullptr;                 // [C] or none
    int64_t stride = 0, rows = 0, channels = 0;  // channels <= C, the rest is zero
    const float* previous = nullptr;  // [C] reference of the chunk before; none for the first
    bool fixed = false;               // the reference is given, else it is found
    float* reference = nullptr;       // [C]
    float* panel = nullptr;           // [kTile, 2C]
    uint16_t* bf16 = nullptr;         // instead, in bfloat16: [kTile / 2, 2C, 2], pairs of rows
    float* state = nullptr;           // [2C] sums of all rows before; then with these
    // [rows / step, 2C] (step: kStep, or Bf16Kernels::step) sums of the rows before row `phase` of
    // each step, or none
    float* before = nullptr;
    int64_t phase = 0;
};

// Running sums from the last row of a panel on.
struct SumAfter {
    const float* panel = nullptr;    // [rows, 2C]
    const uint16_t* bf16 = nullptr;  // instead: [rows / 2, 2C, 2]
    int64_t rows = 0;
    float* after = nullptr;  // [rows / step, 2C] sums of the rows from each step on
};

// Extras of a matrix product: sums start from weight[r] * first[.] instead of from memory, and each
// of the first steps prefetches one row block of another tensor.
struct ProductExtras {
    const float *first = nullptr, *weight = nullptr;  // [2C], [kRows]; or none
    const char* prefetch = nullptr;
    int64_t prefetches = 0, prefetch_stride = 0;  // their number; bytes from one to the next
};

// sum[r][.] += sum_i a[r * a_row + i * a_step] b[i * b_step + .].
struct Multiply {
    const float* a = nullptr;
    int64_t a_row = 0, a_step = 0;
    const float* b = nullptr;
    int64_t b_step = 0, steps = 0;
    float* sum = nullptr;
    int64_t sum_row = 0;
    ProductExtras extras = {};  // of multiply()
};

// The same in float64, with columns in blocks of `lanes`: for the gradients of factors, where sums
// of dw over a row cancel.
struct WideSums {
    const float* a = nullptr;
    int64_t a_row = 0, a_step = 0;
    const float* b = nullptr;
    int64_t b_step = 0, steps = 0, blocks = 0;
    double* sum = nullptr;
    int64_t sum_row = 0;
};

// Rows of a panel's width, from one reference [C] to another.
struct Rescale {
    float* rows = nullptr;
    int64_t count = 0;
    const float *from = nullptr, *to = nullptr;
};

// Numerators and denominators -> results, one block of channels.
template <class T>
struct FinishRows {
    const float* sums = nullptr;  // [rows, 2C]
    int64_t rows = 0, channels = 0, stride = 0;
    const T* q = nullptr;                              // [rows, stride] or none
    T* y = nullptr;                                    // sigmoid(q) average
    float *average = nullptr, *denominator = nullptr;  // or none
    bool streams = false;  // y is not read again soon; only where rows are on whole vectors
};

// One block of channels; the panel's rows are [A | C].
template <class T>
struct RowFactors {
    const T *q = nullptr, *dy = nullptr;
    const float *average = nullptr, *denominator = nullptr;
    const float* mean = nullptr;  // [channels]
    int64_t rows = 0, channels = 0, stride = 0;
    float scale = 1;         // of dy
    T* dq = nullptr;         // none without q
    float* panel = nullptr;  // [rows, 2C]
};

// Sums of weight[t] [A | C]_t, for the sources outside the window.
struct OutsideSums {
    const float* panel = nullptr;      // [T', 2C]
    const float* weight = nullptr;     // [T]
    const float* reference = nullptr;  // [chunks, C]
    int64_t length = 0;
    bool causal = false;
    float *after = nullptr, *before = nullptr;  // [length / kStep, 2C]; before: not causal
};

template <class T>
struct FinishKeys {
    const float* panel = nullptr;  // [rows, 2C] exp(K)(V - mean), exp(K)
    const float* sums = nullptr;   // [rows, 2C] SA, SC
    int64_t rows = 0, channels = 0, stride = 0;
    float scale = 1;
    T *dk = nullptr, *dv = nullptr;
};

}  // namespace aft::ops::cpu
