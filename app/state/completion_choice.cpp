#include "app/state/completion_choice.h"

namespace aft::app {

void forget_marks(CompletionChoice& choice) {
    choice.starred.clear();
    choice.discarded.clear();
    choice.changed = {};
}

KeptMask kept_mask(const CompletionChoice& choice, const ModelConfig& model) {
    const auto values = choice.mask.mask();
    if (values.empty() || choice.height != model.height || choice.width != model.width) return {};
    return {
        .height = choice.height, .width = choice.width, .values = {values.begin(), values.end()}};
}

void show_mask(CompletionChoice& choice, const KeptMask& mask) {
    if (mask.values.empty()) {
        const auto now = choice.mask.mask();
        if (!now.empty())
            choice.mask = viz::MaskCanvas(choice.height, choice.width, {now.begin(), now.end()});
        return;
    }
    choice.height = mask.height;
    choice.width = mask.width;
    choice.mask = viz::MaskCanvas(mask.height, mask.width, mask.values);
}

Image mask_picture(const CompletionChoice& choice) {
    Image picture{.width = choice.width, .height = choice.height, .channels = 1, .pixels = {}};
    for (const uint8_t fill : choice.mask.mask()) picture.pixels.push_back(fill != 0 ? 255 : 0);
    return picture;
}

bool is_lower_half(const KeptMask& mask) {
    for (size_t i = 0; i < mask.values.size(); ++i)
        if ((mask.values[i] != 0) != (int64_t(i) / mask.width >= mask.height / 2)) return false;
    return true;
}

}  // namespace aft::app
