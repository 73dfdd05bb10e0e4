// The kernels for processors with AVX2 and FMA. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/conv_rows.inl"
#include "model/ops/cpu/exact_kernels.inl"
#include "model/ops/cpu/finish_kernels.inl"
#include "model/ops/cpu/scan_back.inl"
#include "model/ops/cpu/table.inl"

namespace aft::ops::cpu {

const Kernels& avx2_kernels() {
    static constexpr Kernels table = avx2::table("avx2");
    return table;
}

}  // namespace aft::ops::cpu
