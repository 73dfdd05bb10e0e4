#include "model/ops/cpu/decode/kernels.h"

#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

namespace {

DecodeKernels choose() {
    const CpuInstructionSet& set = chosen_set();
    if (set.vectors == VectorSet::avx2) return decode_avx2();
    if (set.vectors == VectorSet::portable) return decode_portable();
    DecodeKernels table = decode_avx512();
    if (asked_set() == "avx512") return table;
    if (__builtin_cpu_supports("avx512vnni") != 0) use_vnni_products(table);
    if (set.bf16) {
        use_bf16_products(table);
        use_bf16_mix(table);
        if (set.amx) use_amx_products(table);
    }
    return table;
}

}  // namespace

const DecodeKernels& decode_kernels() {
    static const DecodeKernels chosen = choose();
    return chosen;
}

}  // namespace aft::ops::cpu
