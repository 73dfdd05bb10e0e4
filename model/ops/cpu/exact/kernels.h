// The kernels of the exact path as one table of plain functions per instruction set.
// Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/exact/arguments.h"

namespace aft::ops::cpu {

struct ExactKernels {
    double (*largest)(const ExactTerms&) = nullptr;  // of w + k; -infinity where there are none
    double (*weights)(const ExactWeights&) = nullptr;
    // sum p v; NaN where a v is not finite, whatever its weight
    double (*average)(const double* p, const double* v, int64_t count) = nullptr;
    void (*back)(const ExactBack&) = nullptr;
};

[[nodiscard]] const ExactKernels& avx512_exact_kernels();
[[nodiscard]] const ExactKernels& avx2_exact_kernels();
[[nodiscard]] const ExactKernels& portable_exact_kernels();
// Those of the instruction set in use (simd/instruction_set.h).
[[nodiscard]] const ExactKernels& exact_kernels();

}  // namespace aft::ops::cpu
