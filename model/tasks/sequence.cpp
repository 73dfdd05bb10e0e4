#include "model/tasks/sequence.h"

#include <ATen/ATen.h>

#include <numbers>

#include "model/nn/fused.h"

namespace aft {

TaskResult evaluate_sequence(const Net& net, const Batch& batch, const Pass& pass,
                             const char* metric) {
    const at::Tensor logits = net.forward(batch.input, pass);  // [B, T, levels]
    TaskResult result;
    result.loss = mean_cross_entropy(logits.flatten(0, 1), batch.target.flatten(), 0);
    result.tokens = batch.target.numel();
    result.examples = batch.target.size(0);
    result.metrics[metric] = result.loss.item<double>() / std::numbers::ln2;
    return result;
}

}  // namespace aft
