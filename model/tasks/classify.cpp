// classify: one label for a picture cut into patches; loss in nats per picture (with label
// smoothing e: the target keeps 1 - e and shares e evenly), reported as the share of right answers.
#include <ATen/ATen.h>

#include "model/nn/fused.h"
#include "model/tasks/task.h"

namespace aft {
namespace {

TaskResult evaluate(const Net& net, const Batch& batch, const Pass& pass, double label_smoothing) {
    const at::Tensor logits = net.forward(batch.input, pass);  // [B, classes]
    TaskResult result;
    result.loss = mean_cross_entropy(logits, batch.target, label_smoothing);
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
            .grid =
                [](const ModelConfig& model) {
                    return TokenGrid{model.height / model.patch, model.width / model.patch};
                },
            .evaluate = evaluate};
}

}  // namespace aft
