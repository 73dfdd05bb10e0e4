// What a caller computed with code of their own against what the operator gives. Plain types. For
// the op job; its thread.
#pragma once
#include <vector>

#include "model/jobs/op.h"

namespace aft {

struct TensorFile;  // model/checkpoints/format.h

// Of y and the gradients in `ours`: their tensor of that name in `theirs`, read from request.in.
// Error if y is missing, or the shape or dtype of one does not fit. Gradients that are missing are
// left out. Cost O(values) in float64.
[[nodiscard]] std::vector<OpDifference> compare_outputs(const TensorFile& theirs,
                                                        const TensorFile& ours,
                                                        const OpRequest& request);

}  // namespace aft
