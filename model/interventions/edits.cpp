#include "model/interventions/edits.h"

#include <ATen/ATen.h>

#include "core/check.h"

namespace aft {

void take_places(BiasEdit& edit, const ModelConfig& model) {
    const TaskTraits& task = task_traits(model);
    const int64_t T = edit.traits.has_kernel() ? model.tokens() : edit.w.size(-1);
    edit.height = edit.channels = 1;
    edit.width = T;
    if (task.is_text() || task.is_mixer_alone || model.prefix_tokens() > 0) return;
    const int64_t channels = task.tokens == TokenKind::values ? model.channels : 1;
    const int64_t height = model.grid_height(), width = model.grid_width() / channels;
    if (height * width * channels != T) return;
    edit.height = height;
    edit.width = width;
    edit.channels = channels;
}

at::Tensor cells_inside(const BiasEdit& edit) {
    const at::Tensor one = edit.w.select(0, 0);
    const MixerTraits& traits = edit.traits;
    if (traits.bias == BiasLayout::kernel_2d && edit.is_causal && !traits.is_centred) {
        // The rows above the target, and of its own row what is left of it, and itself.
        const int64_t s = one.size(0);
        return (at::arange(s * s, at::kLong) <= (s / 2) * s + s / 2).view({s, s});
    }
    const at::Tensor seen = edit.w.isneginf().all(0).logical_not();  // but for masks of all heads
    if (traits.has_kernel() || traits.is_centred) return seen;
    at::Tensor inside = seen;
    if (edit.is_causal) inside = inside.tril();
    if (traits.window > 0) inside = inside.triu(1 - traits.window).tril(traits.window - 1);
    return inside;
}

void require_matrix(const BiasEdit& edit, const char* reason) {
    if (edit.is_matrix() && edit.w.size(1) == edit.w.size(2)) return;
    fail_usage("layer {} is {}: {}", edit.layer, edit.traits.words, reason);
}

at::Tensor of_inside(const BiasEdit& edit) {
    return at::where(edit.inside & edit.w.isneginf().logical_not(), edit.w, 0.0F);
}

}  // namespace aft
