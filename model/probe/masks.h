// What w = -inf hides in a layer whose position bias is stored pair by pair. Any thread; reads the
// whole of w, some rows at a time.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "model/config.h"

namespace aft::probe {

struct LayerMasks {
    int64_t layer = 0;
    int64_t hidden = 0;          // pairs that would be visible without it
    int64_t pairs = 0;           // that would
    std::vector<int64_t> blind;  // targets that see no source at all: what they answer is NaN
};

// Of the layers that hide at least one pair; nothing of maps alone.
[[nodiscard]] std::vector<LayerMasks> masks_of(
    const ModelConfig& model, const std::vector<std::pair<std::string, at::Tensor>>& weights);

// "layer 0 hides 12 of 64 pairs (w = -inf)"
[[nodiscard]] std::string hidden_words(const LayerMasks& masks);
// What cannot be computed with: the names of weights that hold NaN or infinity, but for masks, and
// "blocks.0.mixer.w (targets 3, 5 see no source)" of masks that leave a target nothing.
[[nodiscard]] std::vector<std::string> weight_faults(
    const ModelConfig& model, const std::vector<std::pair<std::string, at::Tensor>>& weights);

}  // namespace aft::probe
