// The kernels of aft-simple for processors with AVX2 and FMA. Compiled with its flags; nothing else
// may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/scan/table.inl"

namespace aft::ops::cpu {

const ScanKernels& avx2_scan_kernels() {
    static constexpr ScanKernels table = avx2::scan_table();
    return table;
}

}  // namespace aft::ops::cpu
