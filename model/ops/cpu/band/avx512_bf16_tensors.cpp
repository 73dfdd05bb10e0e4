// The kernels for tensors in bfloat16 on processors with AVX512-BF16, which round a vector in one
// instruction where avx512.cpp takes nine. Compiled with its flags; nothing else may be.
#define AFT_CPU_BFLOAT16
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/band/finish.inl"
#include "model/ops/cpu/band/table.inl"
#include "model/ops/cpu/conv/rows.inl"
#include "model/ops/cpu/exact/kernels.inl"
#include "model/ops/cpu/scan/chunk_gradient.inl"

namespace aft::ops::cpu {

const StoredKernels<Half>& avx512_bfloat16_stored() {
    static constexpr StoredKernels<Half> table = avx512_bfloat16::stored<Half>();
    return table;
}

}  // namespace aft::ops::cpu
