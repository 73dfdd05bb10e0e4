// The table of one instruction set's kernels of the banded operators. Included once per instruction
// set, last.
#pragma once
#include "model/ops/cpu/band/finish.inl"
#include "model/ops/cpu/simd/bias.inl"

namespace aft::ops::cpu::AFT_CPU {

template <class T>
constexpr BandTensorKernels<T> band_tensors() {
    return {.key_reference = key_reference<T>,
            .pack_keys = pack_keys<T>,
            .finish_rows = finish_rows<T>,
            .row_factors = row_factors<T>,
            .finish_keys = finish_keys<T>};
}

constexpr BandKernels band_table() {
    return {.channels = kChannels,
            .lanes = kLanes,
            .outer_rows = kOuterRows,
            .outer_lanes = 2 * kLanes,
            .bias = bias_table(),
            .sum_after = sum_after,
            .multiply = multiply,
            .wide_sums = wide_sums,
            .outer = outer,
            .transpose = transpose,
            .rescale = rescale,
            .outside_sums = outside_sums,
            .of_float = band_tensors<float>(),
            .of_bf16 = band_tensors<Bf16>()};
}

}  // namespace aft::ops::cpu::AFT_CPU
