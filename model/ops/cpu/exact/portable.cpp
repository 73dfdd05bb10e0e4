// The kernels of the exact path for every x86-64 processor (SSE2). Compiled with its flags; nothing
// else may be.
#include "model/ops/cpu/exact/table.inl"

namespace aft::ops::cpu {

const ExactKernels& portable_exact_kernels() {
    static constexpr ExactKernels table = portable::exact_table();
    return table;
}

}  // namespace aft::ops::cpu
