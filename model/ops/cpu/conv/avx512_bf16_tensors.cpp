// The kernels of aft-conv that read and write tensors in bfloat16, for processors with AVX512-BF16:
// they round a vector in one instruction where avx512.cpp takes nine. Compiled with its flags;
// nothing else may be.
#define AFT_CPU_AVX512_BF16
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/ops/cpu/conv/table.inl"

namespace aft::ops::cpu {

const ConvTensorKernels<Bf16>& avx512_bf16_conv_tensors() {
    static constexpr ConvTensorKernels<Bf16> table = avx512_bf16::conv_tensors<Bf16>();
    return table;
}

}  // namespace aft::ops::cpu
