#include "model/nn/input_norm.h"

namespace aft {

void InputNormSettings::visit(SettingRows& rows) {
    rows.push_back(text_row("model.input_norm", &input_norm,
                            "Normalisation of pixels in classification: half (mean and deviation "
                            "0.5), imagenet (those of ImageNet's channels).",
                            {"half", "imagenet"}));
}

InputNorm input_norm(const ModelConfig& model) {
    InputNorm norm;
    norm.mean.fill(0.5F);
    norm.std.fill(0.5F);
    if (model.own.read<InputNormSettings>().input_norm == "half") return norm;
    if (model.channels == 3) {
        norm.mean = {0.485F, 0.456F, 0.406F};
        norm.std = {0.229F, 0.224F, 0.225F};
    } else {
        norm.mean.fill(0.449F);
        norm.std.fill(0.226F);
    }
    return norm;
}

}  // namespace aft
