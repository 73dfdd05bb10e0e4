// The decoding kernels for processors with AVX-512. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode/table.inl"

namespace aft::ops::cpu {

const DecodeKernels& decode_avx512() {
    static constexpr DecodeKernels table = avx512::decode_table("avx512");
    return table;
}

}  // namespace aft::ops::cpu
