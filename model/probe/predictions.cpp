// predictions: log-probabilities of the model, [T, V]: row t is its guess of token t from all
// before it; with position=t only that row, from a shorter pass. Classification: [1, classes].
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom predictions_probe();

namespace {

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ModelConfig& model = context.net.config();
    const bool sequence = model.causal();
    std::vector<uint8_t> tokens = request.tokens;
    const int64_t last = sequence ? static_cast<int64_t>(tokens.size()) - 1 : 0;
    const int64_t position = probe::number(request, "position", 0, std::max<int64_t>(last, 0));
    // A mixer on the grid needs whole rows; what follows the position changes nothing.
    const bool grid = mixer_traits(model).on_grid;
    if (sequence && position >= 0 && !grid) tokens.resize(static_cast<size_t>(position) + 1);
    const at::Device device = context.net.parameters().front().value.device();
    const at::Tensor logits =
        context.net.forward(probe::net_input(model, tokens).to(device), Pass{});
    at::Tensor rows = at::log_softmax(logits.to(at::kCPU, at::kDouble), -1);
    if (sequence) rows = rows[0];
    if (sequence && position >= 0) rows = rows.slice(0, position, position + 1);
    return {{probe::make_field(
        rows, {"predictions", "nats", {sequence ? "target" : "picture", "level"}, {}},
        context.step)}};
}

}  // namespace

ProbeRoom predictions_probe() {
    return {.info = {"predictions", "log-probabilities of every value at every position"},
            .options = {{"position", {}, ""}},
            .needs = ProbeNeeds::input,
            .run = run};
}

}  // namespace aft
