#include "model/decode/block_weights.h"

#include <algorithm>
#include <cmath>

namespace aft::decode {

namespace {

using ops::cpu::decode_kernels;
using ops::cpu::kDecodeBlock;
using ops::cpu::kDecodeNever;

// w of targets [t, t + count) over one chunk, [count, kDecodeBlock].
void dense_rows(const PackedBias& bias, int64_t t, int64_t chunk, std::span<double> w) {
    const int64_t targets = static_cast<int64_t>(w.size()) / kDecodeBlock;
    if (bias.w == nullptr)
        return decode_kernels().factors({.u = bias.u + t * bias.factors,
                                         .r = bias.r.data() + chunk * bias.factors * kDecodeBlock,
                                         .targets = targets,
                                         .factors = bias.factors,
                                         .w = w.data()});
    const int64_t begin = chunk * kDecodeBlock;
    const int64_t count = std::min(kDecodeBlock, bias.length - begin);
    std::fill(w.begin(), w.end(), 0.0);
    for (int64_t i = 0; i < targets; ++i)
        std::copy_n(bias.w + (t + i) * bias.length + begin, count, w.begin() + i * kDecodeBlock);
}

BiasRow split_row(const PackedNet& net, int64_t t, int64_t chunk, const double* w) {
    BiasRow row;
    decode_kernels().split_exponents({.w = w, .exponent = row.exponent, .mantissa = row.mantissa});
    for (int64_t j = 0; j < kDecodeBlock; ++j)
        if (std::isinf(w[j]) && w[j] < 0) {
            row.exponent[j] = kDecodeNever;
            row.mantissa[j] = 0;
        }
    const int64_t outside = t - net.history - chunk * kDecodeBlock;  // sources up to it
    for (int64_t j = 0; j <= std::min(outside, kDecodeBlock - 1); ++j) {
        row.exponent[j] = net.forget ? kDecodeNever : 0;
        row.mantissa[j] = net.forget ? 0 : 1;
    }
    return row;
}

constexpr int64_t kPairs = kDecodeBlock / 2;

void put_nothing(const PackedNet& net, int64_t at, LayerWeights& out) {
    out.wide[static_cast<size_t>(at)] = 0;
    out.largest.data()[at] = kDecodeNever;
    if (net.bf16_chunks)
        std::fill_n(out.pairs.data() + at * kPairs, kPairs, 0U);
    else
        std::fill_n(out.tiles.data() + at * kDecodeBlock, kDecodeBlock, 0.0F);
}

// One chunk of an older block for targets from `begin` on.
struct ChunkTile {
    int64_t begin = 0, targets = 0, chunk = 0;
    [[nodiscard]] int64_t at(const LayerWeights& out) const {
        return (chunk - out.first) * kDecodeBlock;
    }
};

void fill_tile(const PackedNet& net, const PackedBias& bias, const ChunkTile& tile,
               LayerWeights& out) {
    std::vector<double> w(static_cast<size_t>(tile.targets * kDecodeBlock));
    dense_rows(bias, tile.begin, tile.chunk, w);
    for (int64_t i = 0; i < tile.targets; ++i) {
        const int64_t at = tile.at(out) + i;
        const BiasRow row = split_row(net, tile.begin + i, tile.chunk, w.data() + i * kDecodeBlock);
        out.wide[static_cast<size_t>(at)] =
            decode_kernels().tile_row({.exponent = row.exponent,
                                       .mantissa = row.mantissa,
                                       .weights = out.tiles.data() + at * kDecodeBlock,
                                       .largest = out.largest.data() + at})
                ? 0
                : 1;
    }
}

void fill_tile16(const PackedNet& net, const PackedBias& bias, const ChunkTile& tile,
                 LayerWeights& out) {
    std::vector<float> w(static_cast<size_t>(tile.targets * kDecodeBlock), 0.0F);
    const int64_t sources = tile.chunk * kDecodeBlock;
    if (bias.w == nullptr)
        decode_kernels().factors_fp32(
            {.u = bias.u + tile.begin * bias.factors,
             .r = bias.r.data() + tile.chunk * bias.factors * kDecodeBlock,
             .targets = tile.targets,
             .factors = bias.factors,
             .w32 = w.data()});
    for (int64_t i = 0; i < tile.targets; ++i) {
        float* row = w.data() + i * kDecodeBlock;
        const int64_t t = tile.begin + i, at = tile.at(out) + i;
        if (bias.w != nullptr) std::copy_n(bias.w + t * bias.length + sources, kDecodeBlock, row);
        const int64_t outside = t - net.history - sources;  // sources up to it
        for (int64_t j = 0; j <= std::min(outside, kDecodeBlock - 1); ++j)
            row[j] = net.forget ? kDecodeNever : 0;
        out.wide[static_cast<size_t>(at)] =
            decode_kernels().tile_row_bf16({.w = row,
                                            .pairs = out.pairs.data() + at * kPairs,
                                            .largest = out.largest.data() + at})
                ? 0
                : 1;
    }
}

void reserve(const PackedNet& net, int64_t chunks, LayerWeights& out) {
    if (out.largest.size() >= chunks * kDecodeBlock) return;
    const int64_t capacity = chunks + 8;
    out.largest = Buffer<float>(capacity * kDecodeBlock);
    out.wide.resize(static_cast<size_t>(capacity * kDecodeBlock));
    if (net.bf16_chunks)
        out.pairs = Buffer<uint32_t>(capacity * kDecodeBlock * kPairs);
    else
        out.tiles = Buffer<float>(capacity * kDecodeBlock * kDecodeBlock);
}

}  // namespace

BiasRow bias_row(const PackedNet& net, int64_t layer, int64_t t, int64_t chunk) {
    std::vector<double> w(kDecodeBlock);
    dense_rows(net.layers[static_cast<size_t>(layer)].bias, t, chunk, w);
    return split_row(net, t, chunk, w.data());
}

int64_t first_chunk(const PackedNet& net, int64_t begin) {
    return std::max<int64_t>(0, begin - net.history + 1) / kDecodeBlock;
}

void fill(const PackedNet& net, int64_t layer, int64_t begin, LayerWeights& out) {
    const int64_t own = begin / kDecodeBlock;
    out.first = first_chunk(net, begin);
    reserve(net, own - out.first, out);
    out.own.resize(kDecodeBlock);
    const PackedBias& bias = net.layers[static_cast<size_t>(layer)].bias;
    ChunkTile tile{begin, std::min(kDecodeBlock, bias.length - begin)};
    for (tile.chunk = out.first; tile.chunk < own; ++tile.chunk) {
        (net.bf16_chunks ? fill_tile16 : fill_tile)(net, bias, tile, out);
        for (int64_t i = tile.targets; i < kDecodeBlock; ++i)
            put_nothing(net, tile.at(out) + i, out);
    }
    std::vector<double> w(static_cast<size_t>(tile.targets * kDecodeBlock));
    dense_rows(bias, begin, own, w);
    for (int64_t i = 0; i < tile.targets; ++i)
        out.own[static_cast<size_t>(i)] =
            split_row(net, begin + i, own, w.data() + i * kDecodeBlock);
}

}  // namespace aft::decode
