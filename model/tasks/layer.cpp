// layer: mixers alone, each on vectors of a caller's own, without embedding, norms, MLPs and head.
// What an import makes of a bare layer; it is not trained here.
#include "core/check.h"
#include "model/tasks/task.h"

namespace aft {
namespace {

struct LayerSettings {
    bool causal = false;
    void visit(SettingRows& rows) {
        rows.push_back(flag_row("model.causal", &causal,
                                "A mixer alone: every position sees only those before it."));
    }
};

TaskResult evaluate_layer(const Net&, const Batch&, const Pass&, const RoomSettings&) {
    fail_usage("the model is a mixer alone: nothing to predict with; use run --part mixer");
}

}  // namespace

TaskRoom layer_task() {
    return {.info = {"layer", "A mixer alone, on vectors: what import makes of a bare layer."},
            .traits = {.tokens = TokenKind::vectors,
                       .is_autoregressive = false,
                       .is_mixer_alone = true,
                       .metric = "loss",
                       .metric_words = "loss",
                       .loss_in_bits = false,
                       .examples = "inputs",
                       .no_training = "A mixer alone has no head and no loss to train with"},
            .grid = [](const ModelConfig& model) { return TokenGrid{model.height, model.width}; },
            .is_causal =
                [](const ModelConfig& model) { return model.own.read<LayerSettings>().causal; },
            .evaluate = evaluate_layer,
            .visit = visit_settings<LayerSettings>};
}

}  // namespace aft
