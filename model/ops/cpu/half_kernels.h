// The kernels of the banded operators with operands in bfloat16 and sums in float32; numbers of
// channels and lanes are those of kernels(). Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/kernels.h"

namespace aft::ops::cpu {

// sum[r][.] += sum_i a[r * a_row + i] b[i][.], two sources i a step
struct MultiplyHalf {
    const uint16_t* a = nullptr;
    int64_t a_row = 0;
    const uint16_t* b = nullptr;  // [steps, 2C, 2]
    int64_t steps = 0;
    float* sum = nullptr;
    int64_t sum_row = 0;
    Aside aside = {};
};

struct HalfKernels {
    void (*pack_keys)(const PackKeys&) = nullptr;
    void (*sum_after)(const SumAfter&) = nullptr;
    void (*multiply)(const MultiplyHalf&) = nullptr;  // kRows x 2C
    // kLanes more may be overwritten.
    void (*round)(const float* from, int64_t n, uint16_t* to) = nullptr;
};

[[nodiscard]] const HalfKernels& avx512_bfloat16_kernels();
// None where the processor has no such products (AVX512-BF16): kernels() are more exact.
[[nodiscard]] const HalfKernels* half_kernels();

}  // namespace aft::ops::cpu
