#include "model/tasks/sequence.h"

#include <ATen/ATen.h>

#include <numbers>

namespace aft {

TaskResult evaluate_sequence(const Net& net, const Batch& batch, const Pass& pass,
                             const char* metric) {
    const at::Tensor logits = net.forward(batch.input, pass);  // [B, T, levels]
    TaskResult result;
    result.loss = at::cross_entropy_loss(logits.flatten(0, 1), batch.target.flatten());
    result.tokens = batch.target.numel();
    result.examples = batch.target.size(0);
    result.metrics[metric] = result.loss.item<double>() / std::numbers::ln2;
    return result;
}

}  // namespace aft
