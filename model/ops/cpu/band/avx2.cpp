// The kernels of the banded operators for processors with AVX2 and FMA. Compiled with its flags;
// nothing else may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/band/table.inl"

namespace aft::ops::cpu {

const BandKernels& avx2_band_kernels() {
    static constexpr BandKernels table = avx2::band_table();
    return table;
}

}  // namespace aft::ops::cpu
