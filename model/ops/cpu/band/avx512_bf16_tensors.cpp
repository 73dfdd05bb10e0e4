// The kernels of the banded operators that read and write tensors in bfloat16, for processors with
// AVX512-BF16: they round a vector in one instruction where avx512.cpp takes nine. Compiled with
// its flags; nothing else may be.
#define AFT_CPU_AVX512_BF16
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/ops/cpu/band/table.inl"

namespace aft::ops::cpu {

const BandTensorKernels<Bf16>& avx512_bf16_band_tensors() {
    static constexpr BandTensorKernels<Bf16> table = avx512_bf16::band_tensors<Bf16>();
    return table;
}

}  // namespace aft::ops::cpu
