// The thumbnail of a run: its middle layer's position bias as the Biases workspace first shows it,
// of the stored tensors alone, without a net. Called by the job that summarizes runs, on its
// thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "core/field.h"
#include "model/config.h"

namespace aft {

// exp(w)-1 [rows, columns] in the fixed gauge, 0 where the source is not visible; of kernels the
// first head. At most 48 x 48 blocks of whole values, each the value of largest magnitude. Empty
// where the layer has no bias or its tensors are not among these. tensors: canonical names.
[[nodiscard]] Field bias_thumbnail(const ModelConfig& model,
                                   const std::vector<std::pair<std::string, at::Tensor>>& tensors);

}  // namespace aft
