// How pixels of classification are normalised before they enter a model: (x - mean) / std for x =
// level / (levels - 1). Any thread; no state.
#pragma once
#include <array>
#include <string>

#include "model/config.h"

namespace aft {

struct InputNormSettings {
    std::string input_norm = "half";
    void visit(SettingRows& rows);
};

struct InputNorm {
    std::array<float, 4> mean{}, std{};  // of each channel
};

// half: 0.5 and 0.5. imagenet: the means and standard deviations of ImageNet's channels (He et al.
// 2016 and everybody since); one channel has the mean of the three.
[[nodiscard]] InputNorm input_norm(const ModelConfig& model);

}  // namespace aft
