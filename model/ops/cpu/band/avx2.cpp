// The kernels for processors with AVX2 and FMA. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX2
#include "model/ops/cpu/band/finish.inl"
#include "model/ops/cpu/band/table.inl"
#include "model/ops/cpu/conv/rows.inl"
#include "model/ops/cpu/exact/kernels.inl"
#include "model/ops/cpu/scan/chunk_gradient.inl"

namespace aft::ops::cpu {

const Kernels& avx2_kernels() {
    static constexpr Kernels table = avx2::table("avx2");
    return table;
}

}  // namespace aft::ops::cpu
