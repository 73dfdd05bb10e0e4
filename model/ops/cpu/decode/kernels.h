// The vector kernels of decoding as one table of plain functions per instruction set: products of a
// few rows with packed weights, and one token of a mixer. Called by the packed decoder on its
// threads, each for its own panels and channels. A row's bits depend neither on other rows nor on
// threads. No LibTorch.
#pragma once
#include "model/ops/cpu/decode/arguments.h"

namespace aft::ops::cpu {

struct DecodeKernels {
    const char* name = nullptr;
    int64_t panel = 0, lanes = 0;
    void (*product[3])(const DecodeProduct&) = {};  // by WeightFormat
    void (*norm)(const DecodeNorm&) = nullptr;
    void (*activate)(const DecodeActivate&) = nullptr;
    void (*step)(const DecodeStep&) = nullptr;
    void (*append)(const DecodeChunk&, const DecodeSource&, int64_t j) = nullptr;
    // sums [3, stride] -> those of every target of a block
    void (*broadcast_state)(const DecodeChunk&, const float* sums, float* targets) = nullptr;
    // x and reference from k
    void (*finalize_chunk)(const DecodeChunk&) = nullptr;
    // sums += all sources, with w = 0
    void (*accumulate_unbiased)(const DecodeChunk&, float* sums) = nullptr;
    void (*accumulate_chunk)(const DecodeAccumulate&) = nullptr;
    void (*accumulate_exact)(const DecodeExact&) = nullptr;
    void (*factors)(const DecodeFactors&) = nullptr;
    void (*split_exponents)(const DecodeSplit&) = nullptr;
    bool (*tile_row)(const DecodeTileRow&) = nullptr;  // false: too wide, left out
    // Where there are products in bf16 (avx512_bf16_mix.cpp), else none.
    void (*finalize_chunk_bf16)(const DecodeChunk&) = nullptr;
    void (*accumulate_chunk_bf16)(const DecodeAccumulate&) = nullptr;
    void (*factors_fp32)(const DecodeFactors&) = nullptr;  // w32
    bool (*tile_row_bf16)(const DecodeTileRowBf16&) = nullptr;
};

[[nodiscard]] const DecodeKernels& decode_avx512();
[[nodiscard]] const DecodeKernels& decode_avx2();
[[nodiscard]] const DecodeKernels& decode_portable();
void use_vnni_products(DecodeKernels&);
void use_bf16_products(DecodeKernels&);
void use_bf16_mix(DecodeKernels&);
void use_amx_products(DecodeKernels&);
// Those of the instruction set in use (simd/instruction_set.h), with products of int8 and bf16
// where there are some, unless AFTERIMAGE_CPU=avx512 asks for the plain set.
[[nodiscard]] const DecodeKernels& decode_kernels();

}  // namespace aft::ops::cpu
