#include "model/decode/block_weights.h"

#include <algorithm>

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
                out.wide[static_cast<size_t>(at)] =
                    decode_kernels().tile_row({.whole = row.whole,
                                               .part = row.part,
                                               .weights = out.tiles.data() + at * kDecodeBlock,
                                               .largest = out.largest.data() + at})
                        ? 0
                        : 1;
        }
    }
}

}  // namespace aft::decode
