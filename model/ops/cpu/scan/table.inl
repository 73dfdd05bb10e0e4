// The table of one instruction set's kernels of aft-simple. Included once per instruction set,
// last.
#pragma once
#include "model/ops/cpu/scan/chunk_gradient.inl"
#include "model/ops/cpu/scan/kernels.h"

namespace aft::ops::cpu::AFT_CPU {

template <class T>
constexpr ScanTensorKernels<T> scan_tensors() {
    return {.causal = scan<T>,
            .noncausal = scan_all<T>,
            .causal_gradient = scan_gradient<T>,
            .noncausal_gradient = scan_all_gradient<T>,
            .chunk = {chunk_reduce<T>, chunk_combine<T>, chunk_finish<T>},
            .chunk_gradient = {chunk_gradient_reduce<T>, chunk_gradient_combine<T>,
                               chunk_gradient_finish<T>},
            .mean = scan_centre<T>};
}

constexpr ScanKernels scan_table() {
    return {.lanes = kLanes,
            .scratch_size = scan_scratch_size,
            .of_float = scan_tensors<float>(),
            .of_bf16 = scan_tensors<Bf16>()};
}

}  // namespace aft::ops::cpu::AFT_CPU
