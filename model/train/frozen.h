// What train.freeze names: groups of parameters that training leaves as they are, bit for bit.
// A name is that of a kind (biases: those of positions; linear_biases, weights, norms, embeddings),
// of a projection (queries or gates, keys, values, output), or a part of a parameter's name between
// its dots (mlp, mixer, head, u, fc1, ...). Pure. Any thread.
#pragma once
#include <string>
#include <vector>

#include "model/nn/parameters.h"

namespace aft {

// One for each parameter: true = it stays as it is. usage Error where a name is that of none of
// them; it lists those that they have.
[[nodiscard]] std::vector<bool> frozen_parameters(const Parameters& parameters,
                                                  const std::string& freeze);

}  // namespace aft
