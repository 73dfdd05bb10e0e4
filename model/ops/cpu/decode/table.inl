// The table of one instruction set's decoding kernels. Included once per instruction set, last.
#pragma once
#include "model/ops/cpu/decode/bias.inl"
#include "model/ops/cpu/decode/mix.inl"
#include "model/ops/cpu/decode/product.inl"
#include "model/ops/cpu/decode/rows.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr DecodeKernels decode_table(const char* name) {
    return {.name = name,
            .panel = kPanel,
            .lanes = kLanes,
            .product = {product<StepFp32>, product<StepBf16>, product<StepInt8>},
            .norm = norm,
            .activate = activate,
            .step = step,
            .append = append,
            .broadcast_state = broadcast_state,
            .finalize_chunk = finalize_chunk,
            .accumulate_unbiased = accumulate_unbiased,
            .accumulate_chunk = accumulate_chunk,
            .accumulate_exact = accumulate_exact,
            .factors = factors,
            .split_exponents = split_exponents,
            .tile_row = tile_row};
}

}  // namespace aft::ops::cpu::AFT_CPU
