// The kernels of the exact path for processors with AVX-512. Compiled with its flags; nothing else
// may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/exact/table.inl"

namespace aft::ops::cpu {

const ExactKernels& avx512_exact_kernels() {
    static constexpr ExactKernels table = avx512::exact_table();
    return table;
}

}  // namespace aft::ops::cpu
