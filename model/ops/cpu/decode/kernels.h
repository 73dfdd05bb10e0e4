// The vector kernels of decoding as one table of plain functions per instruction set: a few rows
// through packed weights, and one token of a mixer; called by the packed decoder on its threads,
// each for its own panels and channels. A row's bits depend neither on other rows nor on threads.
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

constexpr int64_t kDecodeBlock = 32;  // targets of a tile, sources of a chunk
// Stored exponentials are up to 2^kDecodeKeyShift and 2^kDecodeBiasShift; see decode_mix.inl.
constexpr float kDecodeKeyShift = 40, kDecodeBiasShift = 30;
constexpr float kDecodeWide = 90;      // bits between the biases of a target in one chunk
constexpr float kDecodeNever = -1e9F;  // whole part of a bias that hides its source

enum class WeightFormat { fp32, bf16, int8 };

// [outputs, inputs] in panels of `panel` outputs, so that one vector holds neighbouring outputs.
struct DecodeMatrix {
    const void* weights = nullptr;  // fp32 [panels, inputs, panel]; bf16 [.., inputs / 2, panel, 2]
                                    // and int8 [.., inputs / 4, panel, 4], rounded up with zeros
    const float* bias = nullptr;    // [panels * panel], and so the next two
    const float* scale = nullptr;   // int8: of a row's steps
    const int32_t* sums = nullptr;  // int8: of a row's steps
    int64_t inputs = 0;
};

// y[r, o] = bias[o] + sum_i w[o, i] x[r, i] for the panels [begin, end)
struct DecodeProduct {
    DecodeMatrix matrix;
    const float* x = nullptr;  // [rows, x_stride], zero from `inputs` to the next multiple of 4
    int64_t x_stride = 0, rows = 0;
    int64_t begin = 0, end = 0;
    float* y = nullptr;  // [rows, y_stride]
    int64_t y_stride = 0;
    bool add = false;          // y += instead
    uint8_t* codes = nullptr;  // room for [rows, 2 * inputs + 64]: x as the instructions take it
    bool ahead = false;        // all panels, many rows: asks for the next panel in time
    bool coded = false;        // it is there already, by a product with the same x and rows
};

struct DecodeNorm {
    const float *x = nullptr, *weight = nullptr, *bias = nullptr;
    int64_t rows = 0, stride = 0, channels = 0;  // y is zero from channels to stride
    float eps = 1e-5F;
    float* y = nullptr;
};

enum class DecodeActivation { gelu, gelu_tanh, relu };
struct DecodeActivate {
    float* x = nullptr;  // [rows, stride], the columns [begin, end)
    int64_t rows = 0, stride = 0, begin = 0, end = 0;
    DecodeActivation kind = DecodeActivation::gelu;
    bool is_short = false;  // GELU within 1e-4: beside weights of fewer bits
};

// Sums (m, n, d) of channels: truly 2^m n and 2^m d, with m whole. [3, stride]
struct DecodeSource {
    const float *k = nullptr, *v = nullptr;  // [channels]
};
struct DecodeStep {  // aft-simple: one token of one row, channels [begin, end); y: may be none
    DecodeSource source;
    const float* q = nullptr;  // none: no gate
    float *sums = nullptr, *y = nullptr;
    int64_t stride = 0, begin = 0, end = 0;
};

// Sources with a bias each: a chunk of up to kDecodeBlock. x: while it is open 2^rest of every key,
// which is whole + rest bits; sealed 2^(k - reference + kDecodeKeyShift).
struct DecodeChunk {
    // [stride / lanes, kDecodeBlock, lanes]
    float *k = nullptr, *v = nullptr, *x = nullptr;
    float* reference = nullptr;              // [stride], whole
    int64_t stride = 0, begin = 0, end = 0;  // channels
    int64_t count = kDecodeBlock;
};
struct DecodeAccumulate {  // sums[t] gains what target t hears from the chunk, for all targets
    DecodeChunk chunk;
    const float* weights = nullptr;  // [targets, kDecodeBlock], 2^(w - largest + kDecodeBiasShift)
    const uint32_t* pairs =
        nullptr;  // accumulate_chunk_bf16: the same in bf16, [targets, kDecodeBlock / 2]
    const float* largest = nullptr;  // [targets], whole; kDecodeNever: not this one
    int64_t first = 0, targets = 0;
    float* sums = nullptr;  // [stride / lanes, kDecodeBlock, 3, lanes]
    const float* next =
        nullptr;  // accumulate_chunk_bf16: x of the chunk to come, asked for meanwhile; or none
};
struct DecodeExact {  // the same of one target, from K itself; exact for any values
    DecodeChunk chunk;
    const float *whole = nullptr, *part = nullptr;  // [count]: the bias is part 2^whole
    float* sums = nullptr;                          // as in DecodeAccumulate
    int64_t target = 0;
    bool open = false;  // the chunk is not sealed yet
    const float* q = nullptr;
    float* y = nullptr;  // if given: sigmoid(q) n / d of the channels, and sums stay as they are
};

// w[t, j] of some targets and one chunk of sources, by the factors of the bias.
struct DecodeFactors {
    const float* u = nullptr;  // [targets, factors]
    const float* r = nullptr;  // [factors, kDecodeBlock]
    int64_t targets = 0, factors = 0;
    double* w = nullptr;   // [targets, kDecodeBlock]
    float* w32 = nullptr;  // of factors_fp32
};
struct DecodeSplit {            // e^w = part 2^whole with part in 0.7 .. 1.5
    const double* w = nullptr;  // [kDecodeBlock]
    float *whole = nullptr, *part = nullptr;
};
struct DecodeTileRow {                              // one target of a tile
    const float *whole = nullptr, *part = nullptr;  // [kDecodeBlock]; part 0: hidden
    float* weights = nullptr;                       // [kDecodeBlock]
    float* largest = nullptr;                       // kDecodeNever: nothing to be heard here
};
struct DecodeTileRowBf16 {      // the same from biases in float32, into pairs of bf16
    const float* w = nullptr;   // [kDecodeBlock]; kDecodeNever: hidden
    uint32_t* pairs = nullptr;  // [kDecodeBlock / 2]
    float* largest = nullptr;   // as above
};

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
    void (*finalize_chunk)(const DecodeChunk&) = nullptr;  // x and reference from k
    void (*accumulate_unbiased)(const DecodeChunk&,
                                float* sums) = nullptr;  // all sources with w = 0
    void (*accumulate_chunk)(const DecodeAccumulate&) = nullptr;
    void (*accumulate_exact)(const DecodeExact&) = nullptr;
    void (*factors)(const DecodeFactors&) = nullptr;
    void (*split_exponents)(const DecodeSplit&) = nullptr;
    bool (*tile_row)(const DecodeTileRow&) = nullptr;           // false: too wide, left out
    void (*finalize_chunk_bf16)(const DecodeChunk&) = nullptr;  // these four: where there is bf16,
    void (*accumulate_chunk_bf16)(const DecodeAccumulate&) = nullptr;  // see decode_pull16.cpp
    void (*factors_fp32)(const DecodeFactors&) = nullptr;              // w32
    bool (*tile_row_bf16)(const DecodeTileRowBf16&) = nullptr;
};

[[nodiscard]] const DecodeKernels& decode_avx512();
[[nodiscard]] const DecodeKernels& decode_avx2();
[[nodiscard]] const DecodeKernels& decode_portable();
void use_vnni_products(DecodeKernels&), use_bf16_products(DecodeKernels&),
    use_bf16_mix(DecodeKernels&);
void use_amx_products(DecodeKernels&);
// Of the instruction set that kernels.h chose, with products of bytes and bf16 where there are
// some, unless AFTERIMAGE_CPU=avx512 asks for the plain set.
[[nodiscard]] const DecodeKernels& decode_kernels();

}  // namespace aft::ops::cpu
