// The kernels of aft-simple for processors with AVX-512. Compiled with its flags; nothing else may
// be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/scan/table.inl"

namespace aft::ops::cpu {

const ScanKernels& avx512_scan_kernels() {
    static constexpr ScanKernels table = avx512::scan_table();
    return table;
}

}  // namespace aft::ops::cpu
