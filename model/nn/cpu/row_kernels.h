// The row-wise kernels of a training step (all but its matrix products), as one table of plain
// functions per instruction set: layer norm, GELU, gate, sums of columns, cross entropy, AdamW.
// Called by rows.cpp for one chunk of rows at a time. Pointers and sizes only; no threads, no
// LibTorch. Matrices are [rows, width] without gaps; sums are overwritten.
#pragma once
#include <cstdint>

namespace aft::nn::cpu {

struct NormRows {
    const float* x = nullptr;
    int64_t rows = 0, width = 0;
    const float *weight = nullptr, *bias = nullptr;  // [width]
    float eps = 0;
    float* stats = nullptr;  // [rows, 2]: mean and 1 / deviation of each row
    bool known = false;      // stats are given
    float* y = nullptr;
};

struct NormGradient {
    const float *x = nullptr, *stats = nullptr, *weight = nullptr;
    const float *dy = nullptr, *added = nullptr;  // added to dx unless null
    int64_t rows = 0, width = 0;
    float* dx = nullptr;    // may be dy
    float* sums = nullptr;  // [2, width]: of the weight's gradient, of the bias'
};

struct Gelu {
    const float *x = nullptr, *bias = nullptr;  // of x + bias
    int64_t rows = 0, width = 0;
    float* y = nullptr;
};

struct GeluGradient {
    Gelu forward;  // y is computed again
    const float* dy = nullptr;
    float* dx = nullptr;    // may be dy
    float* sums = nullptr;  // [width]: of dx
};

// y = sigmoid(q) x; y may be x.
struct Gate {
    const float *q = nullptr, *x = nullptr;
    int64_t rows = 0, width = 0;
    float* y = nullptr;
};

struct AddRows {
    const float *x = nullptr, *bias = nullptr;
    int64_t rows = 0, width = 0;
    float* y = nullptr;     // y = x + bias
    float* sums = nullptr;  // column_sums: [width] of x
};

struct CrossEntropy {
    const float* logits = nullptr;
    const int64_t* target = nullptr;  // [rows], each within [0, width)
    int64_t rows = 0, width = 0;
    float smoothing = 0, scale = 1;
    float* gradient = nullptr;  // scale times that of the sum; null: not wanted
};

// AdamW on n values.
struct Update {
    float *value = nullptr, *first = nullptr, *second = nullptr;  // and its two averages
    const float* grad = nullptr;
    int64_t n = 0;
    float grad_scale = 1, beta1 = 0, beta2 = 0, eps = 0;
    float keep = 1;    // 1 - rate * decay
    float rate = 0;    // rate / (1 - beta1^t)
    float spread = 1;  // 1 / sqrt(1 - beta2^t)
};

struct RowKernels {
    void (*norm)(const NormRows&) = nullptr;
    void (*norm_gradient)(const NormGradient&) = nullptr;
    void (*gelu)(const Gelu&) = nullptr;
    void (*gelu_gradient)(const GeluGradient&) = nullptr;
    void (*gate)(const Gate&) = nullptr;
    void (*add)(const AddRows&) = nullptr;
    void (*column_sums)(const AddRows&) = nullptr;
    double (*cross_entropy)(const CrossEntropy&) = nullptr;  // sum over the rows
    double (*squares)(const float* x, int64_t n) = nullptr;
    void (*update)(const Update&) = nullptr;
};

[[nodiscard]] const RowKernels& avx512_row_kernels();
[[nodiscard]] const RowKernels& avx2_row_kernels();
[[nodiscard]] const RowKernels& portable_row_kernels();
// Those of the instruction set that the operators use (AFTERIMAGE_CPU,
// ops/cpu/simd/instruction_set.h).
[[nodiscard]] const RowKernels& row_kernels();

}  // namespace aft::nn::cpu
