// The position biases of one block of targets as the mixers' kernels take them. They depend on the
// position alone, so all rows and samples share them. Filled per layer by the decoder's threads.
// No LibTorch.
#pragma once
#include <vector>

#include "model/decode/packed_net.h"

namespace aft::decode {

// e^w of one target over one chunk: mantissa 2^exponent per source.
struct BiasRow {
    float exponent[ops::cpu::kDecodeBlock], mantissa[ops::cpu::kDecodeBlock];
};

struct LayerWeights {
    int64_t first = 0;             // chunk of tiles[0]
    Buffer<float> tiles, largest;  // [chunks, targets, sources], [chunks, targets]
    Buffer<uint32_t> pairs;        // reduced nets, instead of tiles: [chunks, targets, sources / 2]
    std::vector<uint8_t> wide;     // [chunks, targets]: too far apart for a tile
    std::vector<BiasRow> own;      // [targets]: the block's own sources
};

// Weights of the sources of `chunk` for target `t`.
[[nodiscard]] BiasRow bias_row(const PackedNet& net, int64_t layer, int64_t t, int64_t chunk);

// First chunk whose sources have biases of their own for a block of targets from `begin`.
[[nodiscard]] int64_t first_chunk(const PackedNet& net, int64_t begin);

// begin: a multiple of kDecodeBlock.
void fill(const PackedNet& net, int64_t layer, int64_t begin, LayerWeights& out);

}  // namespace aft::decode
