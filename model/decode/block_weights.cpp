#include "model/decode/block_weights.h"

#include <algorithm>
#include <bit>

namespace aft::decode {

namespace {

using ops::cpu::decode_kernels;
using ops::cpu::kDecodeBiasShift;
using ops::cpu::kDecodeBlock;
using ops::cpu::kDecodeNever;
using ops::cpu::kDecodeWide;

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

BiasRow parts_of(const PackedNet& net, int64_t t, int64_t chunk, const double* w) {
    BiasRow row;
    decode_kernels().parts({.w = w, .whole = row.whole, .part = row.part});
    const int64_t outside = t - net.history - chunk * kDecodeBlock;  // sources up to it
    for (int64_t j = 0; j <= std::min(outside, kDecodeBlock - 1); ++j) {
        row.whole[j] = net.forget ? kDecodeNever : 0;
        row.part[j] = net.forget ? 0 : 1;
    }
    return row;
}

float power_of_two(float n) {  // 0 below the normal numbers
    return n < -126 ? 0
                    : std::bit_cast<float>(static_cast<uint32_t>(static_cast<int>(n) + 127) << 23);
}

// One target's row of a tile.
void put_row(const BiasRow& row, int64_t at, LayerWeights& out) {
    float top = kDecodeNever, low = -kDecodeNever;
    for (int64_t j = 0; j < kDecodeBlock; ++j) {
        if (row.part[j] <= 0) continue;
        top = std::max(top, row.whole[j]);
        low = std::min(low, row.whole[j]);
    }
    const bool wide = top - low > kDecodeWide;
    out.wide[static_cast<size_t>(at)] = wide ? 1 : 0;
    out.largest.data()[at] = wide ? kDecodeNever : top;
    float* to = out.tiles.data() + at * kDecodeBlock;
    for (int64_t j = 0; j < kDecodeBlock; ++j)
        to[j] = wide ? 0 : row.part[j] * power_of_two(row.whole[j] - top + kDecodeBiasShift);
}

void put_nothing(int64_t at, LayerWeights& out) {
    out.wide[static_cast<size_t>(at)] = 0;
    out.largest.data()[at] = kDecodeNever;
    std::fill_n(out.tiles.data() + at * kDecodeBlock, kDecodeBlock, 0.0F);
}

}  // namespace

BiasRow bias_row(const PackedNet& net, int64_t layer, int64_t t, int64_t chunk) {
    std::vector<double> w(kDecodeBlock);
    dense_rows(net.layers[static_cast<size_t>(layer)].bias, t, chunk, w);
    return parts_of(net, t, chunk, w.data());
}

int64_t first_chunk(const PackedNet& net, int64_t begin) {
    return std::max<int64_t>(0, begin - net.history + 1) / kDecodeBlock;
}

void fill(const PackedNet& net, int64_t layer, int64_t begin, LayerWeights& out) {
    const int64_t own = begin / kDecodeBlock;
    out.first = first_chunk(net, begin);
    const int64_t chunks = own - out.first;
    if (out.largest.size() < chunks * kDecodeBlock) {
        const int64_t room = chunks + 8;
        out.largest = Buffer<float>(room * kDecodeBlock);
        out.tiles = Buffer<float>(room * kDecodeBlock * kDecodeBlock);
        out.wide.resize(static_cast<size_t>(room * kDecodeBlock));
    }
    out.own.resize(kDecodeBlock);
    const PackedBias& bias = net.layers[static_cast<size_t>(layer)].bias;
    const int64_t targets = std::min(kDecodeBlock, bias.length - begin);
    std::vector<double> w(static_cast<size_t>(targets * kDecodeBlock));
    for (int64_t chunk = out.first; chunk <= own; ++chunk) {
        dense_rows(bias, begin, chunk, w);
        for (int64_t i = 0; i < kDecodeBlock; ++i) {
            const int64_t at = (chunk - out.first) * kDecodeBlock + i;
            if (i >= targets) {
                if (chunk < own) put_nothing(at, out);
                continue;
            }
            const BiasRow row = parts_of(net, begin + i, chunk, w.data() + i * kDecodeBlock);
            if (chunk == own)
                out.own[static_cast<size_t>(i)] = row;
            else
                put_row(row, at, out);
        }
    }
}

}  // namespace aft::decode
