#include "model/ops/cpu/half_kernels.h"

#include <cstdlib>
#include <string_view>

#include "core/check.h"

namespace aft::ops::cpu {

namespace {

bool has_avx512() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           __builtin_cpu_supports("fma") != 0;
}
bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

const Kernels& choose() {
    __builtin_cpu_init();
    const std::string_view name = asked_set();
    if (!name.empty() && name != "avx512" && name != "avx2" && name != "portable")
        fail_usage("AFTERIMAGE_CPU is '{}'; allowed: avx512, avx2, portable", name);
    if ((name == "avx512" && !has_avx512()) || (name == "avx2" && !has_avx2()))
        fail_usage("AFTERIMAGE_CPU is '{}', but this processor has no {}", name, name);
    if (name == "avx512" || (name.empty() && has_avx512())) return avx512_kernels();
    if (name == "avx2" || (name.empty() && has_avx2())) return avx2_kernels();
    return portable_kernels();
}

}  // namespace

std::string_view asked_set() {
    const char* const asked = std::getenv("AFTERIMAGE_CPU");
    return asked == nullptr ? "" : asked;
}

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

const HalfKernels* half_kernels() {
    static const bool can = asked_set().empty() && &kernels() == &avx512_kernels() &&
                            __builtin_cpu_supports("avx512bf16") != 0;
    return can ? &avx512_bfloat16_kernels() : nullptr;
}

}  // namespace aft::ops::cpu
