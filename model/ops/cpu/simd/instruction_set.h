// The instruction set that the CPU kernels run on: chosen once, by the processor and by
// AFTERIMAGE_CPU=amx|avx512_bf16|avx512|avx2|portable, which asks for one of them without what only
// newer processors add to it (a usage Error if it cannot be had). Any thread. No LibTorch.
#pragma once
#include <string_view>

namespace aft::ops::cpu {

// The target of a table of kernels; amx and avx512_bf16 add to avx512.
enum class VectorSet { portable, avx2, avx512 };

struct CpuInstructionSet {
    std::string_view name;
    VectorSet vectors = VectorSet::portable;
    bool bf16 = false;  // AVX512-BF16
    bool amx = false;   // and AMX-BF16, AMX-INT8, whose registers the system lets this process use
    bool (*is_here)() = nullptr;
};

[[nodiscard]] const CpuInstructionSet& chosen_set();
[[nodiscard]] bool is_available(std::string_view name);  // one of these on this processor
[[nodiscard]] std::string_view asked_set();              // by AFTERIMAGE_CPU; empty: none

// One operator's table for each vector set.
template <class Table>
struct Tables {
    const Table &portable, &avx2, &avx512;

    [[nodiscard]] const Table& chosen() const {
        switch (chosen_set().vectors) {
            case VectorSet::avx512:
                return avx512;
            case VectorSet::avx2:
                return avx2;
            default:
                return portable;
        }
    }
};

}  // namespace aft::ops::cpu
