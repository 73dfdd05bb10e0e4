// What a whole model costs for one example, part by part: counted from its settings as LayerCost in
// model/traits.h says, without making it. Pure, any thread. No LibTorch.
#pragma once
#include <string>
#include <vector>

#include "model/config.h"
#include "model/traits.h"

namespace aft {

struct NetPart {
    std::string name;  // "2 mixers"
    LayerCost cost;    // of all layers together
};

struct NetCost {
    std::vector<NetPart> parts;
    LayerCost all;
    // Of `all`, with train.recompute: x of every block, and the inside of one. The forward pass of
    // the blocks is computed twice.
    double recomputed_bytes = 0, recomputed_flops = 0;
};

// The shape that the config has.
[[nodiscard]] CostShape shape_of(const ModelConfig& model);
// Gives the shape a grid for its tokens, with sides whose ratio is as near as can be to that of the
// model's; false where none is within four times it. Mixers that read no grid need none.
[[nodiscard]] bool has_grid_like(const ModelConfig& model, CostShape& shape);
// Dropout counts its masks. Error where the mixer states no cost.
[[nodiscard]] NetCost net_cost(const ModelConfig& model, const CostShape& shape);

}  // namespace aft
