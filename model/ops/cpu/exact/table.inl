// The table of one instruction set's kernels of the exact path. Included once per instruction set,
// last.
#pragma once
#include "model/ops/cpu/exact/kernels.h"
#include "model/ops/cpu/exact/kernels.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr ExactKernels exact_table() {
    return {.largest = exact_largest,
            .weights = exact_weights,
            .average = exact_average,
            .back = exact_back};
}

}  // namespace aft::ops::cpu::AFT_CPU
