#include "model/ops/cpu/conv/kernels.h"

#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

const ConvKernels& conv_kernels() {
    static const ConvKernels table = [] {
        ConvKernels chosen =
            Tables<ConvKernels>{portable_conv_kernels(), avx2_conv_kernels(), avx512_conv_kernels()}
                .chosen();
        if (chosen_set().bf16) chosen.of_bf16 = avx512_bf16_conv_tensors();
        return chosen;
    }();
    return table;
}

}  // namespace aft::ops::cpu
