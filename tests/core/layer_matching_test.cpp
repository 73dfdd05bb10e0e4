// Layers are found again in any order of layers and heads, also where one model has more of them.
#include <gtest/gtest.h>

#include <cmath>

#include "core/compare/layer_matching.h"
#include "core/rng.h"

namespace aft {
namespace {

constexpr size_t kHeads = 2, kCells = 30;

using LayerValues = std::vector<float>;  // [kHeads, kCells]

std::vector<LayerValues> random_layers(size_t count, uint64_t seed) {
    CounterRng rng(seed, 0);
    std::vector<LayerValues> out(count);
    for (LayerValues& layer : out)
        for (size_t i = 0; i < kHeads * kCells; ++i) layer.push_back(float(rng.normal()));
    return out;
}

// Scaled, moved, heads exchanged, with noise of a tenth.
LayerValues disguised(const LayerValues& layer, uint64_t seed) {
    CounterRng rng(seed, 1);
    LayerValues out;
    for (size_t head = kHeads; head-- > 0;)
        for (size_t i = 0; i < kCells; ++i)
            out.push_back(0.3F + 2 * layer[head * kCells + i] + 0.2F * float(rng.normal()));
    return out;
}

std::vector<HeadMaps> maps_of(const std::vector<LayerValues>& layers) {
    std::vector<HeadMaps> out;
    for (const LayerValues& layer : layers)
        out.push_back({.values = layer, .heads = int64_t(kHeads)});
    return out;
}

TEST(LayerMatching, FindsLayersInAnyOrder) {
    for (uint64_t seed = 1; seed < 6; ++seed) {
        const std::vector<LayerValues> a = random_layers(5, seed);
        const std::vector<size_t> order = {3, 0, 4, 1, 2};  // layer i of b is layer order[i] of a
        std::vector<LayerValues> b;
        for (const size_t i : order) b.push_back(disguised(a[i], seed));
        const std::vector<HeadMaps> of_a = maps_of(a), of_b = maps_of(b);
        const HeadMatching found = match_layers({.a = of_a, .b = of_b}, {});
        ASSERT_EQ(found.pairs.size(), 5u);
        for (size_t i = 0; i < order.size(); ++i)
            EXPECT_EQ(found.of_a(int64_t(order[i])), int64_t(i)) << seed;
        EXPECT_GT(found.mean_score(), 0.9);
        // With heads in their order nothing is like anything.
        EXPECT_LT(match_layers({.a = of_a, .b = of_b, .matches_heads = false}, {}).mean_score(),
                  0.6);
    }
}

TEST(LayerMatching, LayersThatAreLeftAndOnesOfAnotherSize) {
    std::vector<LayerValues> a = random_layers(3, 7);
    std::vector<LayerValues> b = {disguised(a[2], 7), disguised(a[0], 7)};
    std::vector<HeadMaps> of_a = maps_of(a), of_b = maps_of(b);
    HeadMatching found = match_layers({.a = of_a, .b = of_b}, {});
    ASSERT_EQ(found.pairs.size(), 2u);
    EXPECT_EQ(found.of_a(0), 1);
    EXPECT_EQ(found.of_a(1), -1);
    EXPECT_EQ(found.of_a(2), 0);
    a[2].resize(kHeads * (kCells - 1));
    of_a = maps_of(a);
    found = match_layers({.a = of_a, .b = of_b}, {});
    EXPECT_EQ(found.of_a(0), 1);
    EXPECT_EQ(found.of_a(2), -1) << "its cells are no cells of b";
    EXPECT_TRUE(match_layers({}, {}).pairs.empty());
}

TEST(LayerMatching, LargeModelsAreMatchedInBlocks) {
    EXPECT_EQ(matching_block({.layers = 12, .heads = 1, .rows = 256, .columns = 256}), 1);
    const LayerSizes large{.layers = 24, .heads = 8, .rows = 3072, .columns = 3072};
    const int64_t block = matching_block(large);
    const double side = std::ceil(3072.0 / double(block));
    EXPECT_LE(24 * 8 * side * side, double(int64_t{8} << 20));
    EXPECT_GT(block, 1);
    EXPECT_EQ(matching_block({}), 1);
}

}  // namespace
}  // namespace aft
