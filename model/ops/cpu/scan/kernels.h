// The kernels of aft-simple as one table of plain functions per instruction set.
// Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/scan/arguments.h"

namespace aft::ops::cpu {

// A chunk of the prefix scan over a long sample: reduced to its sums, combined with the carry of
// the chunks before it, and finished into results.
template <class R, class T>
struct ChunkKernels {
    void (*reduce)(const ScanChunk<T>&) = nullptr;
    void (*combine)(const ScanChunk<T>&) = nullptr;
    R (*finish)(const ScanChunk<T>&) = nullptr;
};

// Tensors are stored as T: float, or Bf16.
template <class T>
struct ScanTensorKernels {
    bool (*causal)(const Scan<T>&) = nullptr;  // whether all results are finite
    bool (*noncausal)(const Scan<T>&) = nullptr;
    void (*causal_gradient)(const ScanGradient<T>&) = nullptr;
    void (*noncausal_gradient)(const ScanGradient<T>&) = nullptr;
    ChunkKernels<bool, T> chunk;                          // finish: whether all results are finite
    ChunkKernels<Norms, T> chunk_gradient;                // finish: the norms of its rows
    void (*mean)(const Scan<T>&, float* mean) = nullptr;  // of V -> [channels]
};

struct ScanKernels {
    int64_t lanes = 0;
    int64_t (*scratch_size)(int64_t channels) = nullptr;  // floats, of ScanChunk
    ScanTensorKernels<float> of_float;
    ScanTensorKernels<Bf16> of_bf16;

    template <class T>
    [[nodiscard]] const ScanTensorKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(Bf16))
            return of_bf16;
        else
            return of_float;
    }
};

[[nodiscard]] const ScanKernels& avx512_scan_kernels();
[[nodiscard]] const ScanKernels& avx2_scan_kernels();
[[nodiscard]] const ScanKernels& portable_scan_kernels();
[[nodiscard]] const ScanTensorKernels<Bf16>& avx512_bf16_scan_tensors();
// Those of the instruction set in use (simd/instruction_set.h).
[[nodiscard]] const ScanKernels& scan_kernels();

}  // namespace aft::ops::cpu
