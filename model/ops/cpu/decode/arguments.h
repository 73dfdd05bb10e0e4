// What the decoding kernels take: one plain struct each. Pointers and sizes only; no LibTorch.
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

constexpr int64_t kDecodeBlock = 32;  // targets of a tile, sources of a chunk
// Stored exponentials are up to 2^kDecodeKeyShift and 2^kDecodeBiasShift; see mix.inl.
constexpr float kDecodeKeyShift = 40, kDecodeBiasShift = 30;
constexpr float kDecodeWide = 90;      // bits between the biases of a target in one chunk
constexpr float kDecodeNever = -1e9F;  // exponent of a bias that hides its source

enum class WeightFormat { fp32, bf16, int8 };

// [outputs, inputs] in panels of `panel` outputs, so that one vector holds neighbouring outputs.
struct DecodeMatrix {
    // fp32 [panels, inputs, panel]; bf16 [.., inputs / 2, panel, 2] and int8 [.., inputs / 4,
    // panel, 4], rounded up with zeros
    const void* weights = nullptr;
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
    uint8_t* codes = nullptr;  // scratch [rows, 2 * inputs + 64]: x as the instructions take it
    bool prefetches = false;   // the next panel: where one thread takes all panels, many rows
    bool coded = false;        // x is quantised in `codes` already: the product before had it too
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

// Attention state (m, n, d) of channels: 2^m n and 2^m d, m an integer. [3, stride]
struct DecodeSource {
    const float *k = nullptr, *v = nullptr;  // [channels]
};
// One token of one row by aft-simple, channels [begin, end); y may be none.
struct DecodeStep {
    DecodeSource source;
    const float* q = nullptr;  // none: no gate
    float *sums = nullptr, *y = nullptr;
    int64_t stride = 0, begin = 0, end = 0;
};

// Sources with a bias each: a chunk of up to kDecodeBlock. x: 2^fraction of every key, k log2 e =
// exponent + fraction, while it is open; 2^(k - reference + kDecodeKeyShift) once it is finalized.
struct DecodeChunk {
    // [stride / lanes, kDecodeBlock, lanes]
    float *k = nullptr, *v = nullptr, *x = nullptr;
    float* reference = nullptr;              // [stride], an integer
    int64_t stride = 0, begin = 0, end = 0;  // channels
    int64_t count = kDecodeBlock;
};
// sums[t] += the chunk's terms of target t, for all targets.
struct DecodeAccumulate {
    DecodeChunk chunk;
    const float* weights = nullptr;  // [targets, kDecodeBlock], 2^(w - largest + kDecodeBiasShift)
    // accumulate_chunk_bf16: the same in bf16, [targets, kDecodeBlock / 2]
    const uint32_t* pairs = nullptr;
    const float* largest = nullptr;  // [targets], an integer; kDecodeNever: not this one
    int64_t first = 0, targets = 0;
    float* sums = nullptr;  // [stride / lanes, kDecodeBlock, 3, lanes]
    // accumulate_chunk_bf16: x of the next chunk, prefetched meanwhile; or none
    const float* next = nullptr;
};
// The same for one target, from K itself: exact for any values.
struct DecodeExact {
    DecodeChunk chunk;
    const float *exponent = nullptr, *mantissa = nullptr;  // [count]: e^w = mantissa 2^exponent
    float* sums = nullptr;                                 // as in DecodeAccumulate
    int64_t target = 0;
    bool open = false;  // the chunk is not finalized yet
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
// Splits biases: e^w = mantissa 2^exponent, mantissa in 0.7 .. 1.5.
struct DecodeSplit {
    const double* w = nullptr;  // [kDecodeBlock]
    float *exponent = nullptr, *mantissa = nullptr;
};
// One target of a tile.
struct DecodeTileRow {
    const float *exponent = nullptr, *mantissa = nullptr;  // [kDecodeBlock]; mantissa 0: hidden
    float* weights = nullptr;                              // [kDecodeBlock]
    float* largest = nullptr;                              // kDecodeNever: every source is hidden
};
// The same from biases in float32, into pairs of bf16.
struct DecodeTileRowBf16 {
    const float* w = nullptr;   // [kDecodeBlock]; kDecodeNever: hidden
    uint32_t* pairs = nullptr;  // [kDecodeBlock / 2]
    float* largest = nullptr;   // as above
};

}  // namespace aft::ops::cpu
