// Tables over the positions of a picture, for a picture of another size: bicubic interpolation over
// the grid, as DeiT does it (Touvron et al. 2021, section 6: "we interpolate the positional
// encoding"; a = -0.75, corners not aligned). Tokens before the grid (class, distillation) keep
// their rows. Any thread; no state.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "model/config.h"

namespace aft {

// Rows of a table over positions: first those before the grid, then the grid in raster order,
// channels innermost.
struct PositionGrid {
    int64_t prefix = 0, height = 0, width = 0, channels = 1;  // height 0: not of a picture
    [[nodiscard]] bool operator==(const PositionGrid&) const = default;
    [[nodiscard]] int64_t tokens() const { return prefix + height * width * channels; }
    [[nodiscard]] std::string words() const;  // "14 x 14"
};
[[nodiscard]] PositionGrid position_grid(const ModelConfig& model);
// Both are of pictures, with as many channels.
[[nodiscard]] bool can_resize(const PositionGrid& from, const PositionGrid& to);

// table [from.tokens(), n] -> [to.tokens(), n]; rows before the grid that `table` lacks stay as in
// `fresh`, which has the result's shape.
[[nodiscard]] at::Tensor resized_table(const at::Tensor& table, const PositionGrid& from,
                                       const PositionGrid& to, const at::Tensor& fresh);
// w [T, T] -> [T', T']: the same on both axes. Of w = u r^T the same as resizing u and r.
[[nodiscard]] at::Tensor resized_pairs(const at::Tensor& w, const PositionGrid& from,
                                       const PositionGrid& to, const at::Tensor& fresh);

}  // namespace aft
