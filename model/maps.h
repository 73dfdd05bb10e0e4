// Maps alone: what a file says of its position biases where it holds nothing else, layer by layer.
// Layers may differ in everything. docs/format.md lists the keys. Plain types. No LibTorch. Any
// thread.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/traits.h"

namespace aft {

inline constexpr int64_t kMostMapLayers = 4096, kMostMapHeads = 4096;
inline constexpr int64_t kMostMaps = 65536;       // layers times the most heads of one
inline constexpr int64_t kMostMapTokens = 16384;  // T of a layer: rows of all heads fit memory

// One layer. Values are in nats; -inf hides a source from a target.
//   matrix     "full"      [T, T] or [heads, T, T]
//   band       "band"      [heads, T, s]: entry o is source j = t - (s-1)/2 + o
//   kernel_1d  "kernel1d"  [heads, s]: entry o is the offset j - t = o - (s-1)/2
//   kernel_2d  "kernel2d"  [heads, s, s]: the same by row and by column of the grid
// A pair that a band or a kernel does not reach has w = 0.
struct MapLayer {
    std::string name = {};  // as the file says: "layer 3"
    BiasLayout layout = BiasLayout::matrix;
    // Of the tensor; 0 until it has been seen: config.json of a run holds none.
    int64_t heads = 0;
    bool has_heads = false;  // matrix: [heads, T, T], else [T, T]; the others always have
    int64_t taps = 0;        // s, odd; 0: matrix
    int axes = 2;            // numbers of its grid: [T], [H, W] or [H, W, C]
    int64_t height = 1, width = 1, channels = 1;
    bool free_rows = true;  // gauge "row": a constant added to a row of w changes nothing
    [[nodiscard]] int64_t tokens() const { return height * width * channels; }  // T
    // Columns of the token grid, on which kernels slide.
    [[nodiscard]] int64_t columns() const { return width * channels; }
    [[nodiscard]] std::vector<int64_t> grid() const;  // as the file says: [T], [H, W], [H, W, C]
    [[nodiscard]] bool operator==(const MapLayer&) const = default;
};

struct MapsConfig {
    bool causal = false;           // a target sees the sources up to itself alone
    std::vector<MapLayer> layers;  // empty: of all other models
    // The layer of the longest sequence; of none: one position.
    [[nodiscard]] MapLayer longest() const;
    [[nodiscard]] bool operator==(const MapsConfig&) const = default;
};

// {"causal", "layers": [{"name", "layout", "grid", "gauge"}]}. Error that begins with `where` on
// anything else.
[[nodiscard]] MapsConfig maps_from_json(const nlohmann::json& object, const std::string& where);
[[nodiscard]] nlohmann::json maps_to_json(const MapsConfig& maps);
[[nodiscard]] const char* map_layout_word(BiasLayout layout);  // "full"

}  // namespace aft
