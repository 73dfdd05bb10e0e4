#include "model/ops/cpu/decode/kernels.h"

#include <string_view>

#include "model/ops/cpu/band/kernels.h"

namespace aft::ops::cpu {

namespace {

DecodeKernels choose() {
    const std::string_view set = kernels().name;
    if (set == "avx2") return decode_avx2();
    if (set != "avx512") return decode_portable();
    DecodeKernels table = decode_avx512();
    if (asked_set() == "avx512") return table;
    if (__builtin_cpu_supports("avx512vnni") != 0) use_vnni(table);
    if (chosen_set() != "avx512") {
        use_bf16(table);
        use_pull16(table);
        if (chosen_set() == "amx") use_matrices(table);
    }
    return table;
}

}  // namespace

const DecodeKernels& decode_kernels() {
    static const DecodeKernels chosen = choose();
    return chosen;
}

}  // namespace aft::ops::cpu
