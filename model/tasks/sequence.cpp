#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <numbers>

#include "model/nn/fused.h"
#include "model/tasks/task.h"

namespace aft {

TaskResult evaluate_sequence(const Net& net, const Batch& batch, const Pass& pass,
                             const RoomSettings&) {
    const TaskRoom& task = task_of(net.config());
    const at::Tensor logits = net.forward(batch.input, pass);  // [B, T, levels]
    TaskResult result;
    result.loss = mean_cross_entropy(logits.flatten(0, 1), batch.target.flatten(), 0);
    if (!at::GradMode::is_enabled()) result.logits = logits;
    result.tokens = batch.target.numel();
    result.examples = batch.target.size(0);
    result.metrics[task.traits.metric] = task.metric(result.loss.item<double>());
    return result;
}

TokenGrid grid_of_values(const ModelConfig& model) {
    return {model.height, model.width * model.channels};
}

double bits_of(double nats) {
    return nats / std::numbers::ln2;
}

}  // namespace aft
