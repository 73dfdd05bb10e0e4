#include "model/ops/cpu/decode_kernels.h"

#include <string_view>

#include "model/ops/cpu/kernels.h"

namespace aft::ops::cpu {

const DecodeKernels& decode_kernels() {
    const std::string_view set = kernels().name;
    if (set == "avx512")
        return __builtin_cpu_supports("avx512vnni") != 0 ? decode_avx512_vnni() : decode_avx512();
    return set == "avx2" ? decode_avx2() : decode_portable();
}

}  // namespace aft::ops::cpu
