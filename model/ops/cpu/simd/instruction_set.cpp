#include "model/ops/cpu/simd/instruction_set.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

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
bool has_avx512_bf16() {
    return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0;
}
// The tile registers are large: the system gives them to a process that requests them. CPUID leaf 7
// names AMX-BF16, AMX-TILE and AMX-INT8; __builtin_cpu_supports() of Clang before 19 does not.
bool has_amx() {
    constexpr int64_t kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
    constexpr unsigned kAmx = 1U << 22 | 1U << 24 | 1U << 25;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return has_avx512_bf16() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx & kAmx) == kAmx && syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

// The newest first.
constexpr CpuInstructionSet kSets[] = {
    {"amx", VectorSet::avx512, true, true, has_amx},
    {"avx512_bf16", VectorSet::avx512, true, false, has_avx512_bf16},
    {"avx512", VectorSet::avx512, false, false, has_avx512},
    {"avx2", VectorSet::avx2, false, false, has_avx2},
    {"portable", VectorSet::portable, false, false, [] { return true; }}};

const CpuInstructionSet& choose() {
    __builtin_cpu_init();
    const std::string_view name = asked_set();
    for (const CpuInstructionSet& set : kSets) {
        if (!name.empty() && name != set.name) continue;
        if (set.is_here()) return set;
        if (!name.empty())
            fail_usage("AFTERIMAGE_CPU is '{}', but this processor has no {}", name, name);
    }
    fail_usage("AFTERIMAGE_CPU is '{}'; allowed: amx, avx512_bf16, avx512, avx2, portable", name);
}

}  // namespace

std::string_view asked_set() {
    const char* const asked = std::getenv("AFTERIMAGE_CPU");
    return asked == nullptr ? "" : asked;
}

bool is_available(std::string_view name) {
    __builtin_cpu_init();
    for (const CpuInstructionSet& set : kSets)
        if (name == set.name) return set.is_here();
    return false;
}

const CpuInstructionSet& chosen_set() {
    static const CpuInstructionSet& set = choose();
    return set;
}

}  // namespace aft::ops::cpu
