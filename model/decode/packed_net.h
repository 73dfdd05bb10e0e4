// The weights of a net as the decoding kernels read them: packed once, in panels, float32 or fewer
// bits; token and position tables, norms and the head stay float32. The position bias itself is
// not copied: a pointer into the net. Built and read by the packed decoder. No LibTorch.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/system/huge_pages.h"
#include "model/config.h"
#include "model/decode/decoder.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::decode {

using ops::cpu::Buffer;

struct PackedMatrix {
    WeightFormat format = WeightFormat::fp32;
    const uint8_t* weights = nullptr;  // in the net's arena
    int64_t bytes = 0;
    std::vector<float> bias, scale;
    std::vector<int32_t> sums;
    int64_t inputs = 0, panels = 0;
    [[nodiscard]] ops::cpu::DecodeMatrix view() const;
};

struct PackedNorm {
    std::vector<float> weight, bias;  // [d]
};

// w [T, T], or u [T, factors] and r by chunks of sources [T / kDecodeBlock, factors, kDecodeBlock].
struct PackedBias {
    const float *w = nullptr, *u = nullptr;
    Buffer<float> r;
    int64_t length = 0, factors = 0;  // T
};

struct PackedLayer {
    PackedNorm norm1, norm2;
    std::optional<PackedMatrix> q, o;
    PackedMatrix k, v, fc1, fc2;
    PackedBias bias;
};

struct PackedNet {
    ModelConfig config;
    int64_t width = 0, inside = 0, outputs = 0;  // d, MLP and levels up to whole panels
    int64_t length = 0;                          // T: positions with a bias
    bool has_bias = false;                       // else sums alone: aft-simple
    int64_t history = 0;                         // sources with a bias of their own; aft-full: all
    bool forget = false;                         // older sources are hidden
    bool bf16_chunks = false;                    // reduced weights: older chunks in bf16 too
    std::vector<float> tokens;                   // [levels + 1, width], the start token last
    std::vector<float> positions;                // [T, width] or empty
    std::vector<PackedLayer> layers;
    PackedNorm norm;
    PackedMatrix head;
    HugePageArena arena;       // of all matrices, in the order in which a token reads them
    int64_t weight_bytes = 0;  // what a token reads of the matrices
};

[[nodiscard]] PackedNet pack(const Net& net, WeightFormat format);

}  // namespace aft::decode
