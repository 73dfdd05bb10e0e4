// What the rooms of interventions share: the places of a position bias, and which of its cells are
// parameters that count. Pure functions; float32 on the CPU.
#pragma once
#include "model/interventions/intervention.h"

namespace aft {

// Height, width and channels of the sequence.
void take_places(BiasEdit& edit, const ModelConfig& model);
// bool, the shape of one head of w: parameters, of a source that its target sees.
[[nodiscard]] at::Tensor cells_inside(const BiasEdit& edit);
// w is [h, T, T]; usage Error with the reason why not.
void require_matrix(const BiasEdit& edit, const char* reason);
// w with 0 in the cells that are not inside.
[[nodiscard]] at::Tensor of_inside(const BiasEdit& edit);

}  // namespace aft
