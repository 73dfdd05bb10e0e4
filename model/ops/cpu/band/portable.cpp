// The kernels for every x86-64 processor (SSE2). Compiled with its flags; nothing else may be.
#include "model/ops/cpu/band/finish.inl"
#include "model/ops/cpu/band/table.inl"
#include "model/ops/cpu/conv/rows.inl"
#include "model/ops/cpu/exact/kernels.inl"
#include "model/ops/cpu/scan/chunk_gradient.inl"

namespace aft::ops::cpu {

const Kernels& portable_kernels() {
    static constexpr Kernels table = portable::table("portable");
    return table;
}

}  // namespace aft::ops::cpu
