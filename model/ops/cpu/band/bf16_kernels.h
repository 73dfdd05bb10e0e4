// The kernels of the banded operators with operands in bfloat16 and sums in float32; numbers of
// channels and lanes are those of band_kernels(). Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/band/kernels.h"

namespace aft::ops::cpu {

// sum[r][.] += sum_i a[r * a_row + i] b[i][.], two sources i a step
struct MultiplyBf16 {
    const uint16_t* a = nullptr;
    int64_t a_row = 0;
    const uint16_t* b = nullptr;  // [steps, 2C, 2]
    int64_t steps = 0;
    float* sum = nullptr;
    int64_t sum_row = 0;
    ProductExtras extras = {};
};

// The same product for kMatrixRows targets by AMX tiles, kMatrixStep sources a step; C is 32.
constexpr int64_t kMatrixRows = 32, kMatrixStep = 32;
constexpr int64_t kMatrixWeights = kMatrixRows * kMatrixStep;  // numbers of a step
struct MultiplyMatrix {
    const uint16_t* a = nullptr;  // [steps, kMatrixRows, kMatrixStep]
    const uint16_t* b = nullptr;  // [steps * kMatrixStep / 2, 2C, 2]
    int64_t steps = 0;
    float* sum = nullptr;  // [kMatrixRows, 2C]
    // Sums start from weight[r] * (first[.] + later[.]) instead of from `sum`; or none.
    const float *first = nullptr, *later = nullptr, *weight = nullptr;
};

struct Bf16Kernels {
    const char* name = nullptr;
    int64_t step = kStep;  // rows for which running sums are kept
    void (*pack_from_float)(const PackKeys<float>&) = nullptr;
    void (*pack_from_bf16)(const PackKeys<Bf16>&) = nullptr;
    void (*sum_after)(const SumAfter&) = nullptr;
    void (*multiply)(const MultiplyBf16&) = nullptr;  // kRows x 2C
    // kLanes more may be overwritten.
    void (*round)(const float* from, int64_t n, uint16_t* to) = nullptr;
    // Instead of the last two, where there are matrix instructions.
    void (*multiply_matrix)(const MultiplyMatrix&) = nullptr;
    // A row of weights -> the same row of each step's [kMatrixRows, kMatrixStep].
    void (*round_row)(const float* from, int64_t steps, uint16_t* to) = nullptr;

    void pack_keys(const PackKeys<float>& p) const { pack_from_float(p); }
    void pack_keys(const PackKeys<Bf16>& p) const { pack_from_bf16(p); }
};

[[nodiscard]] const Bf16Kernels& avx512_bf16_kernels();
[[nodiscard]] const Bf16Kernels& amx_kernels();
// None where the processor has no such products (AVX512-BF16) or they are no faster than float32's,
// as on Intel's (window 256, B = 4, T = 3072, d = 256, two cores of a Xeon: 22.5 ms, in float32
// 17.1), unless AFTERIMAGE_CPU asks for them: band_kernels() are more exact. Those of AMX-BF16
// where the system lets this process use the tiles.
[[nodiscard]] const Bf16Kernels* bf16_kernels();

}  // namespace aft::ops::cpu
