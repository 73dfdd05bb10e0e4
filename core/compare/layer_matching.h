// Matching layers of two models: which layer of one is which of the other, whatever their order.
// Two layers are as alike as their heads: the mean score of the heads that belong together. Pure,
// any thread.
#pragma once
#include <span>
#include <stop_token>

#include "core/compare/map_compare.h"

namespace aft {

struct LayersToMatch {
    std::span<const HeadMaps> a, b;  // a layer each; their maps may have several sizes
    bool matches_heads = true;       // by similarity, else in their order
};
// One to one, so that the sum of the mean scores is the largest (match_heads). Layers without a
// known score, as maps of two sizes, are put together last. Empty where it was stopped.
[[nodiscard]] HeadMatching match_layers(const LayersToMatch& layers, const std::stop_token& stop);

// Of one model: all its layers, the largest of them.
struct LayerSizes {
    int64_t layers = 0, heads = 1, rows = 1, columns = 1;
};
// Cells a side of the blocks whose means are matched: all pairs of layers take seconds. 1: whole.
[[nodiscard]] int64_t matching_block(const LayerSizes& sizes);

}  // namespace aft
