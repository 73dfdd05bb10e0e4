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
            .take = take,
            .append = append,
            .begin = begin,
            .seal = seal,
            .fold = fold,
            .pull = pull,
            .exact = exact,
            .factors = factors,
            .parts = parts,
            .tile_row = tile_row};
}

}  // namespace aft::ops::cpu::AFT_CPU
