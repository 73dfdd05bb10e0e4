// The kernels of aft-conv as one table of plain functions per instruction set.
// Pointers and sizes only; no threads, no LibTorch.
#pragma once
#include "model/ops/cpu/conv/arguments.h"
#include "model/ops/cpu/scaling.h"
#include "model/ops/cpu/simd/bias.h"

namespace aft::ops::cpu {

// Those that read or write tensors, which are stored as T: float, or Bf16.
template <class T>
struct ConvTensorKernels {
    void (*pack)(const ConvPack<T>&) = nullptr;
    bool (*finish)(const ConvFinish<T>&) = nullptr;  // whether all entries are safe
    void (*factors)(const ConvFactors<T>&) = nullptr;
    Norms (*gradients)(const ConvKeys<T>&) = nullptr;
};

struct ConvKernels {
    int64_t lanes = 0;
    BiasKernels bias;
    int64_t slide = 0;                                     // most slots of a slide
    const SlideFunction* slides = nullptr;                 // by the number of slots
    int64_t tile = 0;                                      // largest tile of taps
    const TapsFunction* taps = nullptr;                    // by the size of the tile
    void (*rows)(const ConvOutside&) = nullptr;            // into the scratch, before the next:
    void (*outside)(ConvOutside&, int64_t row) = nullptr;  // of the grid
    ConvTensorKernels<float> of_float;
    ConvTensorKernels<Bf16> of_bf16;

    template <class T>
    [[nodiscard]] const ConvTensorKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(Bf16))
            return of_bf16;
        else
            return of_float;
    }
};

[[nodiscard]] const ConvKernels& avx512_conv_kernels();
[[nodiscard]] const ConvKernels& avx2_conv_kernels();
[[nodiscard]] const ConvKernels& portable_conv_kernels();
[[nodiscard]] const ConvTensorKernels<Bf16>& avx512_bf16_conv_tensors();
// Those of the instruction set in use (simd/instruction_set.h).
[[nodiscard]] const ConvKernels& conv_kernels();

}  // namespace aft::ops::cpu
