// What image and text share: the mean cross entropy of the next token. Thread of the net's owner.
#pragma once
#include "model/tasks/task.h"

namespace aft {

// metric: the key that gets loss / ln 2 (bits per token).
[[nodiscard]] TaskResult evaluate_sequence(const Net& net, const Batch& batch, const Pass& pass,
                                           const char* metric);

}  // namespace aft
