// One tile of kTile targets of the banded operators' forward pass: its weights, and their product
// with the panel of one sample and block of channels. Plain data; one thread at a time writes it.
// No LibTorch.
#pragma once
#include "model/ops/cpu/band/band.h"

namespace aft::ops::cpu {

struct TargetTile {
    int64_t row = 0, blocks = 0;  // first target; blocks of kRows targets in use
    int64_t span = 0;             // numbers of a row of weights
    int64_t phase = 0;            // of BandShape
    IndexRange sources[kBlocks];  // in the windows of each kRows targets
    RowScales scales{kTile};
    Buffer<float> weights;          // [kTile, span], from each block's first source on
    Buffer<uint16_t> bf16_weights;  // instead: in bfloat16
    // Instead, where there are matrix instructions, blocks are of kMatrixRows targets, and
    // bf16_weights [blocks, span / kMatrixStep, kMatrixRows, kMatrixStep].
    bool matrix = false;

    explicit TargetTile(const BandShape& shape);
    void start(const BandWeights& all, int64_t first, WeightScratch& scratch);
    void start_matrix(const BandWeights& all, int64_t first, WeightScratch& scratch);
    [[nodiscard]] PrefetchRange prefetch_range() const;  // its weights
    // Most sources in the windows of kRows targets.
    [[nodiscard]] static int64_t widest(const BandShape& shape);
};

// What is prefetched while the sums are computed: first, where the panel is `far`, its next chunks
// (full panels of many samples do not stay in the second-level cache); then rows of other tensors,
// one for each source, as more at once would queue up; then `tail`.
struct PrefetchPlan {
    const char* rows[3] = {};
    int64_t count = 0, stride = 0;  // bytes
    PrefetchRange tail = {};
    bool far = false;
};

struct TileSums {
    float* sums = nullptr;  // [kTile, 2C]
    PrefetchPlan prefetch = {};
};
void sum_tile_matrix(const BandShape& shape, const TargetTile& tile,
                     const Panels::ChannelBlock& block, float* sums);
// sums = N | D of the tile's targets, at the reference of the last chunk that they see.
void sum_tile(const BandShape& shape, const TargetTile& tile, const Panels::ChannelBlock& block,
              const TileSums& to);

}  // namespace aft::ops::cpu
