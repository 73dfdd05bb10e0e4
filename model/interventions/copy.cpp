// copy: the position bias of another head, layer, step or run. Of this model: as the interventions
// before left it. Of another one: its file or run folder, read anew each time.
#include <ATen/ATen.h>

#include <filesystem>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/interventions/edits.h"

namespace aft {

InterventionRoom copy_intervention();

namespace {

// [h, ...] as BiasEdit::w
at::Tensor bias_of(const Net& net, int64_t layer) {
    if (layer >= net.config().layers)
        fail_usage("from_layer: found {}, allowed: 0 to {}", layer, net.config().layers - 1);
    const MixerTraits traits = mixer_traits(net.config(), layer);
    if (!traits.has_bias())
        fail_usage("from_layer {} is {}: it has no position bias", layer, traits.words);
    const at::Tensor w =
        net.mixer(layer).bias(net.config().tokens())->to(at::kCPU, at::kFloat).detach();
    return w.dim() == 2 && !traits.has_kernel() ? w.unsqueeze(0) : w;
}

at::Tensor stored_of(const std::string& path, int64_t step, int64_t layer) {
    std::filesystem::path file = path;
    if (step >= 0) {
        if (!std::filesystem::is_directory(file))
            fail_usage("from_step {}: '{}' is no run folder", step, shown_path(path));
        file = checkpoint_path(file, step);
    }
    return bias_of(make_net(read_checkpoint(file)), layer);
}

at::Tensor copy(const BiasEdit& edit) {
    const std::string path = edit.values.text("from");
    const int64_t named = edit.values.whole("from_layer"), head = edit.values.whole("from_head");
    const int64_t layer = named < 0 ? edit.layer : named, step = edit.values.whole("from_step");
    if (path.empty() && step >= 0)
        fail_usage("from_step {}: it needs the run folder that it is a step of (from)", step);
    at::Tensor other = path.empty() ? bias_of(edit.net, layer) : stored_of(path, step, layer);
    if (head >= other.size(0))
        fail_usage("from_head: found {}, allowed: 0 to {}", head, other.size(0) - 1);
    if (head < 0 && edit.head >= 0 && other.size(0) > edit.head)
        other = other.slice(0, edit.head, edit.head + 1);
    if (head >= 0) other = other.slice(0, head, head + 1);
    if (other.dim() != edit.w.dim() || other.sizes().slice(1) != edit.w.sizes().slice(1) ||
        (other.size(0) != 1 && other.size(0) != edit.w.size(0)))
        fail_usage("its position bias is {}, that of layer {} is {}",
                   fmt::join(other.sizes().vec(), " x "), edit.layer,
                   fmt::join(edit.w.sizes().vec(), " x "));
    return other.expand(edit.w.sizes()).contiguous();
}

// -1, or a number.
InterventionOption number_or(const char* key, const char* help, const char* at_min) {
    return {
        .key = key, .help = help, .standard = "-1", .min = -1, .max = 1 << 30, .at_min = at_min};
}

}  // namespace

InterventionRoom copy_intervention() {
    return {{.info = {"copy", "Takes the bias of another head, layer, step or run."},
             .formula = "w \u2192 w of another place",
             .options = {number_or("from_layer", "Layer to take from; -1 = the same.", "the same"),
                         number_or("from_head", "Head to take from; -1 = the same.", "the same"),
                         {.key = "from",
                          .help = "Checkpoint or run folder to take from; empty = this model.",
                          .standard = "",
                          .is_text = true,
                          .empty = "this model",
                          .is_path = true},
                         number_or("from_step", "Saved step of that run; -1 = its newest.",
                                   "the newest")}},
            copy};
}

}  // namespace aft
