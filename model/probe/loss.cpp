// loss: the cross entropy of the model on one input or on several of the same length, one number
// each: the mean over its tokens, or of a class. So that a change of the weights can be judged
// input by input (core/paired.h). request.tokens: N inputs one after the other; labels: of tasks
// with classes, N. Cost: one forward pass of N inputs.
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom loss_probe();

namespace {

std::vector<uint8_t> part_of(const std::vector<uint8_t>& all, int64_t index, int64_t count) {
    const auto size = static_cast<int64_t>(all.size()) / count;
    return {all.begin() + index * size, all.begin() + (index + 1) * size};
}

// [N, T] tokens or [N, C, H, W]
at::Tensor inputs_of(const ModelConfig& model, const ProbeRequest& request, int64_t count) {
    std::vector<at::Tensor> inputs;
    for (int64_t i = 0; i < count; ++i)
        inputs.push_back(probe::net_input(model, part_of(request.tokens, i, count)));
    return at::cat(inputs);
}

// What the outputs should have said: [N, T] or [N].
at::Tensor targets_of(const ModelConfig& model, const ProbeRequest& request,
                      const at::Tensor& inputs) {
    if (!task_traits(model).has_classes) return inputs;
    for (const int64_t label : request.labels)
        if (label < 0 || label >= model.outputs())
            fail_usage("probe loss: label {}, this model has classes 0 to {}", label,
                       model.outputs() - 1);
    return at::tensor(request.labels, at::kLong);
}

int64_t count_of(const ModelConfig& model, const ProbeRequest& request) {
    const auto values = static_cast<int64_t>(request.tokens.size());
    if (task_traits(model).has_classes) {
        const auto count = static_cast<int64_t>(request.labels.size());
        if (count < 1 || values % count != 0)
            fail_usage(
                "probe loss: a model with classes needs the label of its input; `afterimage eval` "
                "takes them from the data");
        return count;
    }
    const int64_t T = model.tokens();
    return values > T && values % T == 0 ? values / T : 1;
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ModelConfig& model = context.net.config();
    const int64_t count = count_of(model, request);
    const at::Tensor inputs = inputs_of(model, request, count);
    const at::Tensor targets = targets_of(model, request, inputs);
    const at::Device device = context.net.parameters().front().value.device();
    const at::Tensor logits = context.net.forward(inputs.to(device), Pass{}).to(at::kCPU);
    const bool has_tokens = logits.dim() == 3;
    const at::Tensor nats = at::cross_entropy_loss(has_tokens ? logits.transpose(1, 2) : logits,
                                                   targets, {}, at::Reduction::None)
                                .to(at::kDouble);
    FieldSet out{{probe::make_field(has_tokens ? nats.mean(1) : nats,
                                    {"loss", "nats", {"input"}, {}}, context.step)}};
    if (task_traits(model).has_classes)
        out.fields.push_back(probe::make_field(logits.argmax(-1).eq(targets),
                                               {"right", "", {"input"}, {}}, context.step));
    return out;
}

}  // namespace

ProbeRoom loss_probe() {
    return {.info = {"loss", "cross entropy of the model on an input, mean over its tokens"},
            .options = {},
            .needs = ProbeNeeds::input,
            .averages_inputs = true,
            .run = run};
}

}  // namespace aft
