// The way back: a checkpoint of ours under the names of others, by the same mapping. Any thread; no
// state; memory of the weights a few times.
#pragma once
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/convert.h"
#include "model/checkpoints/importers/mapping.h"

namespace aft::imports {

struct Reverted {
    TensorFile file;
    // Parameters that the mapping fills in by itself; their tensors that an import drops.
    std::vector<Left> left_out;
};
// Their tensors, which read back as the same model: that is tried, and an Error with the reason
// where it is not so.
[[nodiscard]] Reverted revert(const Checkpoint& checkpoint, const Mapping& mapping);
// Why nothing that a rule has changed comes back, in the words of the mapping file; "" = it does.
[[nodiscard]] std::string no_way_back(const Rule& rule);

}  // namespace aft::imports
