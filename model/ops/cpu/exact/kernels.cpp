#include "model/ops/cpu/exact/kernels.h"

#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

const ExactKernels& exact_kernels() {
    static const ExactKernels& table =
        Tables<ExactKernels>{portable_exact_kernels(), avx2_exact_kernels(), avx512_exact_kernels()}
            .chosen();
    return table;
}

}  // namespace aft::ops::cpu
