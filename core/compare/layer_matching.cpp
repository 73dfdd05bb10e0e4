#include "core/compare/layer_matching.h"

#include <algorithm>

namespace aft {

namespace {

constexpr int64_t kMostMatchedValues = int64_t{8} << 20;  // of all layers: 24 of T = 512

}  // namespace

HeadMatching match_layers(const LayersToMatch& layers, const std::stop_token& stop) {
    HeadScores scores{.rows = static_cast<int64_t>(layers.a.size()),
                      .columns = static_cast<int64_t>(layers.b.size()),
                      .values = {}};
    for (const HeadMaps& a : layers.a)
        for (const HeadMaps& b : layers.b) {
            if (stop.stop_requested()) return {};
            const HeadScores heads = correlate_heads(a, b);
            scores.values.push_back(
                (layers.matches_heads ? match_heads(heads) : same_order(heads)).mean_score());
        }
    return match_heads(scores);
}

int64_t matching_block(const LayerSizes& sizes) {
    int64_t block = 1;
    const auto values = [&] {
        const auto side = [&](int64_t n) { return (n + block - 1) / block; };
        return static_cast<double>(sizes.layers) * static_cast<double>(sizes.heads) *
               static_cast<double>(side(sizes.rows)) * static_cast<double>(side(sizes.columns));
    };
    while (values() > kMostMatchedValues && block < std::max(sizes.rows, sizes.columns)) ++block;
    return block;
}

}  // namespace aft
