// The kernels of aft-simple for every x86-64 processor (SSE2). Compiled with its flags; nothing
// else may be.
#include "model/ops/cpu/scan/table.inl"

namespace aft::ops::cpu {

const ScanKernels& portable_scan_kernels() {
    static constexpr ScanKernels table = portable::scan_table();
    return table;
}

}  // namespace aft::ops::cpu
