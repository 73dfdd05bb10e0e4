// The kernels of aft-conv for every x86-64 processor (SSE2). Compiled with its flags; nothing else
// may be.
#include "model/ops/cpu/conv/table.inl"

namespace aft::ops::cpu {

const ConvKernels& portable_conv_kernels() {
    static constexpr ConvKernels table = portable::conv_table();
    return table;
}

}  // namespace aft::ops::cpu
