// The kernels of the banded operators for every x86-64 processor (SSE2). Compiled with its flags;
// nothing else may be.
#include "model/ops/cpu/band/table.inl"

namespace aft::ops::cpu {

const BandKernels& portable_band_kernels() {
    static constexpr BandKernels table = portable::band_table();
    return table;
}

}  // namespace aft::ops::cpu
