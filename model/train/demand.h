// What a training asks of the machine: counted from its settings before anything is made. Any
// thread; a few milliseconds (shapes alone, no values).
#pragma once
#include <ATen/core/Tensor.h>

#include "model/config.h"

namespace aft {

struct Demand {
    double parameters = 0;
    double weights_bytes = 0;      // float32, without gradients and averages
    double activations_bytes = 0;  // what one micro batch keeps for its backward pass
    double training_bytes = 0;     // weights, gradients and averages, activations
    double step_operations = 0;    // multiplications and additions of a whole batch
};
// config: fitted to its data (fit_model), or the count is of another size.
[[nodiscard]] Demand training_demand(const Config& config);

// Throws where a training cannot do: more than twice the memory of the machine (the count is
// rough; the system ends a process that takes all without a word), or bfloat16 on a GPU.
void check_demand(const Config& config, at::Device device);

}  // namespace aft
