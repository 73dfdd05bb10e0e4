// The row kernels for every x86-64 processor (SSE2). Compiled with its flags; nothing else may be.
#include "model/nn/cpu/loss_kernels.inl"

namespace aft::nn::cpu {

const RowKernels& portable_row_kernels() {
    static constexpr RowKernels kernels = portable::table();
    return kernels;
}

}  // namespace aft::nn::cpu
