// The decoding kernels for processors with AVX2 and FMA. Compiled with its flags; nothing else may
// be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/decode/table.inl"

namespace aft::ops::cpu {

const DecodeKernels& decode_avx2() {
    static constexpr DecodeKernels table = avx2::decode_table("avx2");
    return table;
}

}  // namespace aft::ops::cpu
