// The row kernels for processors with AVX2 and FMA. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX2
#include "model/nn/cpu/loss_kernels.inl"

namespace aft::nn::cpu {

const RowKernels& avx2_row_kernels() {
    static constexpr RowKernels kernels = avx2::table();
    return kernels;
}

}  // namespace aft::nn::cpu
