// The kernels for every x86-64 processor (SSE2). Compiled with its flags; nothing else may be.
#include "model/ops/cpu/conv_rows.inl"
#include "model/ops/cpu/exact_kernels.inl"
#include "model/ops/cpu/finish_kernels.inl"
#include "model/ops/cpu/scan_back.inl"
#include "model/ops/cpu/table.inl"

namespace aft::ops::cpu {

const Kernels& portable_kernels() {
    static constexpr Kernels table = portable::table("portable");
    return table;
}

}  // namespace aft::ops::cpu
