// The kernels for processors with AVX-512. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/band/finish.inl"
#include "model/ops/cpu/band/table.inl"
#include "model/ops/cpu/conv/rows.inl"
#include "model/ops/cpu/exact/kernels.inl"
#include "model/ops/cpu/scan/chunk_gradient.inl"

namespace aft::ops::cpu {

const Kernels& avx512_kernels() {
    static constexpr Kernels table = avx512::table("avx512");
    return table;
}

}  // namespace aft::ops::cpu
