// A layer of one model against the same layer of another one: which head is which, how far the
// matched ones are from each other, and what of that a gauge takes away. Pure, any thread.
#pragma once
#include <vector>

#include "core/compare/map_compare.h"

namespace aft {

struct LayerComparison {
    HeadMatching matching;
    std::vector<MapDistance> heads;  // of the pairs of `matching`
    MapDistance all;                 // of the layer
};
// matches: heads by similarity, else in their order.
[[nodiscard]] LayerComparison compare_heads(const HeadMaps& a, const HeadMaps& b, bool matches);
// 1 - |fixed|^2 / |raw|^2 of the change of the matched heads: the share that is no more than a
// choice of gauge. NaN where the raw maps do not differ.
[[nodiscard]] double share_of_gauge(const HeadMaps& raw_a, const HeadMaps& raw_b,
                                    const LayerComparison& fixed);

}  // namespace aft
