// The kernels of the banded operators for processors with AVX-512. Compiled with its flags; nothing
// else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/band/table.inl"

namespace aft::ops::cpu {

const BandKernels& avx512_band_kernels() {
    static constexpr BandKernels table = avx512::band_table();
    return table;
}

}  // namespace aft::ops::cpu
