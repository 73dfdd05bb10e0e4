// The decoding kernels for every x86-64 processor (SSE2). Compiled with its flags; nothing else may
// be.
#include "model/ops/cpu/decode/table.inl"

namespace aft::ops::cpu {

const DecodeKernels& decode_portable() {
    static constexpr DecodeKernels table = portable::decode_table("portable");
    return table;
}

}  // namespace aft::ops::cpu
