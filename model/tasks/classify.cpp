// classify: one label for a picture cut into patches; loss in nats per picture (with label
// smoothing e: the target keeps 1 - e and shares e evenly; mixed pictures have a target of several
// classes), reported as the share of right answers.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "core/check.h"
#include "model/nn/embedding.h"
#include "model/nn/fused.h"
#include "model/nn/input_norm.h"
#include "model/tasks/task.h"

namespace aft {
namespace {

struct ClassifySettings {
    int64_t classes = 3;
    void visit(SettingRows& rows) {
        rows.push_back(
            number_row("model.classes", &classes, "Classes in classification.", {1, 1e9}));
    }
};

struct SmoothingSettings {
    double label_smoothing = 0;
    void visit(SettingRows& rows) {
        rows.push_back(number_row("train.label_smoothing", &label_smoothing,
                                  "Share of the target that is spread over all classes.",
                                  {0, 0.9}));
    }
};

struct OwnSettings {
    PatchSettings patches;
    ClassifySettings classes;
    InputNormSettings norm;
    void visit(SettingRows& rows) {
        patches.visit(rows);
        classes.visit(rows);
        norm.visit(rows);
    }
};

TokenGrid patch_grid(const ModelConfig& model) {
    const auto own = model.own.read<PatchSettings>();
    return {model.height / own.patch, model.width / own.patch, own.prefix_tokens()};
}

void check(const ModelConfig& model) {
    const auto own = model.own.read<PatchSettings>();
    const bool has_patches = task_traits(model).tokens == TokenKind::patches;
    if (!has_patches && model.own.read<InputNormSettings>().input_norm != "half")
        fail_usage("model.input_norm is for model.task=classify, found task '{}'", model.task);
    if (own.class_token && !has_patches)
        fail_usage("model.class_token is for model.task=classify, found task '{}'", model.task);
    if (own.distillation_token && !own.class_token)
        fail_usage(
            "model.distillation_token=true goes with model.class_token=true, found false: the "
            "logits are the mean of both heads");
    if (has_patches && (model.height % own.patch != 0 || model.width % own.patch != 0))
        fail_usage("model.patch = {} does not divide the image of {} x {} (height x width)",
                   own.patch, model.height, model.width);
}

TaskResult evaluate(const Net& net, const Batch& batch, const Pass& pass,
                    const RoomSettings& training) {
    const at::Tensor logits = net.forward(batch.input, pass);  // [B, classes]
    TaskResult result;
    const double smoothing = training.read<SmoothingSettings>().label_smoothing;
    result.loss = batch.soft_target.defined()
                      ? at::cross_entropy_loss(logits, batch.soft_target, {}, at::Reduction::Mean,
                                               /*ignore_index=*/-100, smoothing)
                      : mean_cross_entropy(logits, batch.target, smoothing);
    if (!at::GradMode::is_enabled()) result.logits = logits;
    result.tokens = result.examples = batch.target.size(0);
    const at::Tensor right = logits.argmax(-1).eq(batch.target).sum();
    result.metrics["accuracy"] = right.item<double>() / static_cast<double>(result.examples);
    return result;
}

}  // namespace

TaskRoom classify_task() {
    return {.info = {"classify", "The class of a picture, seen as a grid of patches."},
            .traits = {.tokens = TokenKind::patches,
                       .is_autoregressive = false,
                       .has_classes = true,
                       .metric = "accuracy",
                       .metric_words = "accuracy",
                       .loss_in_bits = false},
            .grid = patch_grid,
            .outputs =
                [](const ModelConfig& model) { return model.own.read<ClassifySettings>().classes; },
            .evaluate = evaluate,
            .visit = visit_settings<OwnSettings>,
            .visit_training = visit_settings<SmoothingSettings>,
            .check = check};
}

}  // namespace aft
