#include "model/ops/cpu/band/kernels.h"

#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

const BandKernels& band_kernels() {
    static const BandKernels table = [] {
        BandKernels chosen =
            Tables<BandKernels>{portable_band_kernels(), avx2_band_kernels(), avx512_band_kernels()}
                .chosen();
        if (chosen_set().bf16) chosen.of_bf16 = avx512_bf16_band_tensors();
        return chosen;
    }();
    return table;
}

// Intel's processors start one AVX512-BF16 product a cycle, as many multiply-adds as two of
// float32; AMD's start two.
const Bf16Kernels* bf16_kernels() {
    const CpuInstructionSet& set = chosen_set();
    if (set.amx) return &amx_kernels();
    if (!set.bf16) return nullptr;
    const bool wins = __builtin_cpu_is("amd") != 0 || asked_set() == set.name;
    return wins ? &avx512_bf16_kernels() : nullptr;
}

}  // namespace aft::ops::cpu
