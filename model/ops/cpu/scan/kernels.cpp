#include "model/ops/cpu/scan/kernels.h"

#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

const ScanKernels& scan_kernels() {
    static const ScanKernels table = [] {
        ScanKernels chosen =
            Tables<ScanKernels>{portable_scan_kernels(), avx2_scan_kernels(), avx512_scan_kernels()}
                .chosen();
        if (chosen_set().bf16) chosen.of_bf16 = avx512_bf16_scan_tensors();
        return chosen;
    }();
    return table;
}

}  // namespace aft::ops::cpu
