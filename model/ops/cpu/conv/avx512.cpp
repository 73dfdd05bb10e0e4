// The kernels of aft-conv for processors with AVX-512. Compiled with its flags; nothing else may
// be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/conv/table.inl"

namespace aft::ops::cpu {

const ConvKernels& avx512_conv_kernels() {
    static constexpr ConvKernels table = avx512::conv_table();
    return table;
}

}  // namespace aft::ops::cpu
