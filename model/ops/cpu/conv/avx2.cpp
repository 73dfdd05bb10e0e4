// The kernels of aft-conv for processors with AVX2 and FMA. Compiled with its flags; nothing else
// may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/conv/table.inl"

namespace aft::ops::cpu {

const ConvKernels& avx2_conv_kernels() {
    static constexpr ConvKernels table = avx2::conv_table();
    return table;
}

}  // namespace aft::ops::cpu
