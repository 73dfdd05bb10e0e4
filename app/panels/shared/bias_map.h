// The position bias of one layer as a map: how a model's bias is laid out, and the values that are
// drawn: as they are, in blocks, or as the change between two steps. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "app/state/selection.h"
#include "core/field.h"
#include "viz/tiles.h"

namespace aft::app {

inline constexpr const char* kMaskedWords = "masked, w = \u2212\u221E";

// Values that one drawn cell stands for.
struct Blocks {
    int64_t rows = 1, columns = 1;
    [[nodiscard]] bool is_single() const { return rows == 1 && columns == 1; }
    [[nodiscard]] std::string words() const;  // "3", "3×1"
    [[nodiscard]] bool operator==(const Blocks&) const = default;
};

// Which sources a target sees.
struct BiasVisibility {
    bool is_causal = true;
    int64_t window = 0;  // |t - j| < window has a bias; kernels: taps along an axis
    bool hides_outside = false;
    bool is_centred = false;  // kernels: the target is their middle tap, causal or not
    bool has_masks = false;   // values that are NaN are hidden cells
    [[nodiscard]] bool operator==(const BiasVisibility&) const = default;
};

// How a model's position bias is laid out.
struct BiasForm {
    BiasLayout layout = BiasLayout::none;  // of the mixer's traits; none also for attention
    int64_t layers = 0, heads = 1;         // heads: maps per layer
    int64_t rows = 0, columns = 0;         // of one map, before blocks
    int64_t first_offset = 0;  // band and kernels: offset of column 0 (and of row 0: kernel2)
    int64_t tokens = 0;
    BiasVisibility visibility{};

    // Of one layer: maps alone may be of other sizes in each. -1: the most of all layers.
    explicit BiasForm(const Status& status, int64_t layer = -1);
    [[nodiscard]] bool is_kernel() const {
        return layout == BiasLayout::kernel_1d || layout == BiasLayout::kernel_2d;
    }
    // Each head of a layer has a map of its own.
    [[nodiscard]] bool has_heads() const {
        return layout == BiasLayout::kernel_2d || (!is_kernel() && heads > 1);
    }
    // The axes mean different things and may be drawn at different zooms.
    [[nodiscard]] bool has_free_axes() const {
        return layout == BiasLayout::band || layout == BiasLayout::kernel_1d;
    }
    // Values per block so that one map fits into so many pixels and fills most of them.
    [[nodiscard]] Blocks blocks_for(ImVec2 pixels) const;
    // Those that a range of all layers is made of: the same whatever a pane draws, as the clip is a
    // share of the blocks.
    [[nodiscard]] Blocks range_blocks() const { return blocks_for({512, 512}); }
    // Small enough to be read as a whole and cut into blocks here, along each axis by itself.
    [[nodiscard]] bool is_read_whole() const { return rows * columns <= int64_t{4} << 20; }
    [[nodiscard]] bool is_hidden(int64_t row, int64_t column, Blocks block) const;
    // Values of a block that can be seen.
    [[nodiscard]] int64_t seen(int64_t row, int64_t column, Blocks block) const;
    // Target and source of cell (row, column).
    [[nodiscard]] Cell cell(int64_t layer, int64_t head, int64_t row, int64_t column) const;
    [[nodiscard]] bool place(const Cell& cell, int64_t& row, int64_t& column) const;  // false: none
    [[nodiscard]] bool operator==(const BiasForm&) const = default;
};

struct BlockCell {
    int64_t row = 0, column = 0;
    Blocks block{};
    double value = 0;  // NaN = none
};
// Hidden by a mask, where the form alone would show it.
[[nodiscard]] bool is_masked(const BiasForm& form, const BlockCell& cell);

struct BiasMap {  // one map of one layer
    int64_t rows = 0, columns = 0;
    Blocks block;
    std::vector<float> shown;       // of each block its extreme of largest magnitude, or its mean
    std::vector<float> low, mean;   // of blocks; empty without
    std::vector<float> high, norm;  // norm: of a block's values; empty also where it is not known
    std::vector<float> count;       // of a block's visible values, where the form cannot tell
    std::vector<float> w;  // of single values, where the answer holds it beside another quantity
    std::vector<uint8_t> hidden;
    bool has_masks = false;       // cells that the form shows may be hidden, too
    std::vector<uint8_t> masked;  // those that a mask hides; empty = none
    std::vector<uint8_t> partly;  // of blocks, 1 = masks hide a part of it; empty = of none
    [[nodiscard]] viz::MapData data(uint64_t version) const {
        return {shown, rows, columns, hidden, version, masked, partly};
    }
};

struct BiasFields {
    const FieldSet& fields;            // of a probe
    const FieldSet* before = nullptr;  // what is taken from it: the same at another step
    BlockValue block_value = BlockValue::extreme;
};
// One map out of a probe's answer; empty if the answers have another shape. Where the probe gave
// blocks, the change between two steps is that of their means.
[[nodiscard]] BiasMap map_of_fields(const BiasFields& from, const BiasForm& form, int64_t head,
                                    Blocks block);

}  // namespace aft::app
