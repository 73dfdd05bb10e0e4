// Snapshot: what the trainer publishes. Complete and immutable: cloned weights, config, step, last
// report.
#pragma once
#include <memory>

#include "model/checkpoints/checkpoint.h"

namespace aft {

struct Snapshot {
    std::shared_ptr<const Checkpoint> checkpoint;  // weights only
    int64_t step = 0;
    uint64_t stamp = 0;  // unique within the process
    // No checkpoint is left: the position biases are the newest stored ones, all else means
    // nothing.
    bool biases_only = false;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace aft
