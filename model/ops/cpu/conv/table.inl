// The table of one instruction set's kernels of aft-conv. Included once per instruction set, last.
#pragma once
#include "model/ops/cpu/conv/kernels.h"
#include "model/ops/cpu/conv/rows.inl"
#include "model/ops/cpu/simd/bias.inl"

namespace aft::ops::cpu::AFT_CPU {

template <class T>
constexpr ConvTensorKernels<T> conv_tensors() {
    return {.pack = conv_pack<T>,
            .finish = conv_finish<T>,
            .factors = conv_factors<T>,
            .gradients = conv_gradients<T>};
}

constexpr ConvKernels conv_table() {
    return {.lanes = kLanes,
            .bias = bias_table(),
            .slide = kSlide,
            .slides = kSlides,
            .tile = kTapTile,
            .taps = kTaps,
            .rows = conv_rows,
            .outside = conv_outside,
            .of_float = conv_tensors<float>(),
            .of_bf16 = conv_tensors<Bf16>()};
}

}  // namespace aft::ops::cpu::AFT_CPU
