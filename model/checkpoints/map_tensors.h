// The tensors of maps alone, `biases.{i}`: whether they are those that the layers describe, and
// which of their entries say something of a pair of positions. Any thread, no state.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "model/maps.h"

namespace aft {

using MapTensors = std::vector<std::pair<std::string, at::Tensor>>;

[[nodiscard]] std::string map_tensor_name(int64_t layer);  // "biases.3"

// Takes heads and taps of every layer from its tensor, and puts the tensors into the order of the
// layers. float32 only, as they are after widening. Error that names the tensor, what was found and
// what is allowed: a missing or extra one, another rank or shape, an even number of taps, NaN and
// +inf. Of tensors of the meta device the values are not looked at. Reads all values otherwise.
void take_map_tensors(MapsConfig& maps, MapTensors& tensors, const std::string& path);

// The values of one head ([T, T], [T, s], [s], [s, s]) that a pair of the layer's positions has and
// that its target can see, [n]: none from outside the sequence or the grid, none from after the
// target where causal, none that is -inf.
[[nodiscard]] at::Tensor visible_values(const MapLayer& layer, bool causal,
                                        const at::Tensor& of_head);

}  // namespace aft
