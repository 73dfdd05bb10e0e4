// The kernels of aft-full and aft-local as one table of plain functions per instruction set.
// Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/band/arguments.h"
#include "model/ops/cpu/simd/bias.h"

namespace aft::ops::cpu {

// Those that read or write tensors, which are stored as T: float, or Bf16.
template <class T>
struct BandTensorKernels {
    void (*key_reference)(const PackKeys<T>&) = nullptr;  // of any number of rows
    void (*pack_keys)(const PackKeys<T>&) = nullptr;
    bool (*finish_rows)(const FinishRows<T>&) = nullptr;  // whether all entries are safe
    void (*row_factors)(const RowFactors<T>&) = nullptr;
    Norms (*finish_keys)(const FinishKeys<T>&) = nullptr;
};

struct BandKernels {
    int64_t channels = 0;  // C
    int64_t lanes = 0;
    int64_t outer_rows = 0;  // register tile of outer(): outer_rows x outer_lanes
    int64_t outer_lanes = 0;
    BiasKernels bias;
    void (*sum_after)(const SumAfter&) = nullptr;
    void (*multiply)(const Multiply&) = nullptr;  // kRows x 2C
    void (*wide_sums)(const WideSums&) = nullptr;
    void (*outer)(const Multiply&) = nullptr;  // outer_rows x outer_lanes
    // [rows, 2C] -> [rows / outer_lanes, 2C, outer_lanes]
    void (*transpose)(const float* from, int64_t rows, float* to) = nullptr;
    void (*rescale)(const Rescale&) = nullptr;
    void (*outside_sums)(const OutsideSums&) = nullptr;
    BandTensorKernels<float> of_float;
    BandTensorKernels<Bf16> of_bf16;

    template <class T>
    [[nodiscard]] const BandTensorKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(Bf16))
            return of_bf16;
        else
            return of_float;
    }
};

[[nodiscard]] const BandKernels& avx512_band_kernels();
[[nodiscard]] const BandKernels& avx2_band_kernels();
[[nodiscard]] const BandKernels& portable_band_kernels();
[[nodiscard]] const BandTensorKernels<Bf16>& avx512_bf16_band_tensors();
// Those of the instruction set in use (simd/instruction_set.h).
[[nodiscard]] const BandKernels& band_kernels();

}  // namespace aft::ops::cpu
