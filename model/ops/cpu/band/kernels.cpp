#include "model/ops/cpu/band/bf16_kernels.h"

#include <sys/syscall.h>
#include <unistd.h>

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
const Kernels& bfloat16_kernels() {
    static const Kernels table = [] {
        Kernels with = avx512_kernels();
        with.of_halves = avx512_bfloat16_stored();
        return with;
    }();
    return table;
}
bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

bool has_bfloat16() {
    return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0;
}
// The registers are large: the system gives them to a process that asks for them.
bool has_matrices() {
    constexpr int64_t kAskFor = 0x1023, kMatrixRegisters = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
    return has_bfloat16() && __builtin_cpu_supports("amx-tile") != 0 &&
           __builtin_cpu_supports("amx-bf16") != 0 && __builtin_cpu_supports("amx-int8") != 0 &&
           syscall(SYS_arch_prctl, kAskFor, kMatrixRegisters) == 0;
}

struct Set {
    std::string_view name;
    bool (*is_here)();
    const Kernels& (*kernels)();
};
// The newest first. What else avx512_bf16 and amx add: half_kernels() and decode_kernels().
constexpr Set kSets[] = {{"amx", has_matrices, bfloat16_kernels},
                         {"avx512_bf16", has_bfloat16, bfloat16_kernels},
                         {"avx512", has_avx512, avx512_kernels},
                         {"avx2", has_avx2, avx2_kernels},
                         {"portable", [] { return true; }, portable_kernels}};

const Set& choose() {
    __builtin_cpu_init();
    const std::string_view name = asked_set();
    for (const Set& set : kSets) {
        if (!name.empty() && name != set.name) continue;
        if (set.is_here()) return set;
        if (!name.empty())
            fail_usage("AFTERIMAGE_CPU is '{}', but this processor has no {}", name, name);
    }
    fail_usage("AFTERIMAGE_CPU is '{}'; allowed: amx, avx512_bf16, avx512, avx2, portable", name);
}

const Set& chosen() {
    static const Set& set = choose();
    return set;
}

}  // namespace

std::string_view asked_set() {
    const char* const asked = std::getenv("AFTERIMAGE_CPU");
    return asked == nullptr ? "" : asked;
}

std::string_view chosen_set() {
    return chosen().name;
}

const Kernels& kernels() {
    static const Kernels& table = chosen().kernels();
    return table;
}

// Intel's processors start one AVX512-BF16 product a cycle, as many multiply-adds as two of
// float32; AMD's start two.
const HalfKernels* half_kernels() {
    if (chosen_set() == "amx") return &amx_kernels();
    if (chosen_set() != "avx512_bf16") return nullptr;
    const bool wins = __builtin_cpu_is("amd") != 0 || asked_set() == "avx512_bf16";
    return wins ? &avx512_bfloat16_kernels() : nullptr;
}

}  // namespace aft::ops::cpu
