// The kernels of the exact path for processors with AVX2 and FMA. Compiled with its flags; nothing
// else may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/exact/table.inl"

namespace aft::ops::cpu {

const ExactKernels& avx2_exact_kernels() {
    static constexpr ExactKernels table = avx2::exact_table();
    return table;
}

}  // namespace aft::ops::cpu
