// Gradients of the factors u, r of a banded position bias from tiles of that of the bias.
// Deterministic; runs on the calling thread's OpenMP team. No LibTorch.
#pragma once
#include "model/ops/cpu/band/band.h"

namespace aft::ops::cpu {

struct BiasTiles {
    const float* dw = nullptr;  // [tiles, most, kTile]: targets whose window overlaps the tile
    int64_t most = 0;
};

// du_t = sum_j dw_tj r_j, dr_j = sum_t dw_tj u_t, into x.du and x.dr
void factor_gradients(const BandShape& shape, const BandWeights& weights, const BiasTiles& tiles,
                      const BiasGradient& x);

}  // namespace aft::ops::cpu
