// Rows of the probe "formation": layers and heads in their order, where layers may have different
// numbers of heads, or no position bias. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/field.h"

namespace aft::app {

inline constexpr size_t kFormationNumbers = 4;  // columns: rms, entropy, largest share, distance

// Heads of every layer; 0 = it has no position bias.
[[nodiscard]] std::vector<size_t> formation_heads(const Field& field);
// Where a head stands; head -1 is the first one. None: the layer has no such head.
[[nodiscard]] std::optional<size_t> formation_row(const Field& field, int64_t layer, int64_t head);

}  // namespace aft::app
