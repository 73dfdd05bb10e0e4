// The way back: a checkpoint of ours under the names of others, by the same mapping. Any thread; no
// state; memory of the weights a few times.
#pragma once
#include <string>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/mapping.h"

namespace aft::imports {

// Their tensors, which read back as the same model: that is tried, and an Error with the reason
// where it is not so.
[[nodiscard]] TensorFile revert(const Checkpoint& checkpoint, const Mapping& mapping);

}  // namespace aft::imports
