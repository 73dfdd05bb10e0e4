// The row kernels for processors with AVX-512. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/nn/cpu/loss_kernels.inl"

namespace aft::nn::cpu {

const RowKernels& avx512_row_kernels() {
    static constexpr RowKernels kernels = avx512::table();
    return kernels;
}

}  // namespace aft::nn::cpu
