// maps: position biases alone, layer by layer, of any model. Of what it was trained for its file
// says nothing.
#include "core/check.h"
#include "model/tasks/task.h"

namespace aft {

namespace {

void check_maps(const ModelConfig& model) {
    const bool has_layers = !model.maps.layers.empty();
    if (task_traits(model).is_bias_alone && !has_layers)
        fail_usage(
            "model.task={} is of files that hold position biases alone (docs/format.md): no "
            "setting makes such a model",
            model.task);
    const auto count = static_cast<int64_t>(model.maps.layers.size());
    if (has_layers && (count != model.layers || !task_traits(model).is_bias_alone))
        fail_usage(
            "position biases alone of {} layers stay what they are: model.task=maps, "
            "model.layers={}",
            count, count);
}

TaskResult evaluate_maps(const Net&, const Batch&, const Pass&, const RoomSettings&) {
    fail_usage("the model is position biases alone: there is nothing to predict with");
}

}  // namespace

TaskRoom maps_task() {
    return {.info = {"maps", "Position biases alone, of any model: a file holds nothing else."},
            .traits = {.tokens = TokenKind::vectors,
                       .is_autoregressive = false,
                       .is_mixer_alone = true,
                       .is_bias_alone = true,
                       .metric = "loss",
                       .metric_words = "loss",
                       .loss_in_bits = false,
                       .examples = "inputs",
                       .no_training = "Position biases alone have no model to train"},
            .grid =
                [](const ModelConfig& model) {
                    const MapLayer longest = model.maps.longest();
                    return TokenGrid{longest.height, longest.columns()};
                },
            .is_causal = [](const ModelConfig& model) { return model.maps.causal; },
            .evaluate = evaluate_maps,
            .check = check_maps};
}

}  // namespace aft
