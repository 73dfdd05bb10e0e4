#include "model/jobs/inspect.h"

#include <ATen/ATen.h>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/map_tensors.h"
#include "model/decode/input.h"
#include "model/probe/masks.h"

namespace aft {

namespace {

// The cells of w [T, T] that the operator uses: visible but for masks, and inside the window.
at::Tensor used_cells(const at::Tensor& w, const ModelConfig& config) {
    at::Tensor used = at::ones_like(w, at::TensorOptions().dtype(at::kBool));
    if (config.causal()) used = used.tril();
    if (const int64_t window = mixer_traits(config).window; window > 0)
        used = used.tril(window - 1).triu(1 - window);
    return w.masked_select(used);
}

BiasSummary statistics(int64_t layer, int64_t head, const at::Tensor& cells) {
    const at::Tensor values = cells.masked_select(cells.isneginf().logical_not_());
    const int64_t hidden = cells.numel() - values.numel();
    if (values.numel() == 0) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        return {.layer = layer,
                .head = head,
                .min = none,
                .max = none,
                .mean = none,
                .norm = none,
                .hidden = hidden};
    }
    return {.layer = layer,
            .head = head,
            .min = values.min().item<double>(),
            .max = values.max().item<double>(),
            .mean = values.mean(at::kDouble).item<double>(),
            .norm = values.to(at::kDouble).norm().item<double>(),
            .hidden = hidden};
}

std::vector<BiasSummary> map_statistics(const Net& net) {
    std::vector<BiasSummary> rows;
    const MapsConfig& maps = net.config().maps;
    for (size_t i = 0; i < maps.layers.size(); ++i) {
        const MapLayer& layer = maps.layers[i];
        const auto number = static_cast<int64_t>(i);
        const at::Tensor w = *net.mixer(number).bias(layer.tokens());
        for (int64_t head = 0; head < layer.heads; ++head)
            rows.push_back(statistics(
                number, head,
                visible_values(layer, maps.causal, layer.has_heads ? w.select(0, head) : w)));
    }
    return rows;
}

std::vector<MapSummary> map_summaries(const MapsConfig& maps) {
    std::vector<MapSummary> rows;
    for (const MapLayer& layer : maps.layers)
        rows.push_back({.name = layer.name,
                        .layout = map_layout_word(layer.layout),
                        .gauge = layer.free_rows ? "row" : "none",
                        .grid = layer.grid()});
    return rows;
}

std::vector<BiasSummary> bias_statistics(const Net& net) {
    const ModelConfig& config = net.config();
    if (task_traits(config).is_bias_alone) return map_statistics(net);
    std::vector<BiasSummary> rows;
    for (int64_t layer = 0; layer < config.layers; ++layer) {
        const std::optional<at::Tensor> w = net.mixer(layer).bias(config.tokens());
        if (!w) continue;
        const bool has_kernel = mixer_traits(config).has_kernel();
        if (!has_kernel && w->dim() == 2) {
            rows.push_back(statistics(layer, 0, used_cells(*w, config)));
            continue;
        }
        for (int64_t head = 0; head < w->size(0); ++head) {
            const at::Tensor of_head = w->select(0, head);
            rows.push_back(
                statistics(layer, head, has_kernel ? of_head : used_cells(of_head, config)));
        }
    }
    return rows;
}

InspectResult describe(const Config& config, const Net& net) {
    InspectResult result;
    result.config = config;
    result.task = task_traits(config.model);
    result.tokens = config.model.tokens();
    result.parameters = parameter_count(net.parameters());
    result.parameters_per_layer.assign(static_cast<size_t>(config.model.layers), 0);
    std::vector<std::pair<std::string, at::Tensor>> weights;
    for (const Parameter& parameter : net.parameters()) {
        const at::Tensor& value = parameter.value;
        if (parameter.layer >= 0)
            result.parameters_per_layer[static_cast<size_t>(parameter.layer)] += value.numel();
        weights.emplace_back(parameter.name, value);
        result.tensors.push_back({.name = parameter.name,
                                  .dtype = c10::toString(value.scalar_type()),
                                  .shape = value.sizes().vec(),
                                  .min = value.min().item<double>(),
                                  .max = value.max().item<double>()});
    }
    result.not_finite = probe::weight_faults(config.model, weights);
    result.bias = bias_statistics(net);
    result.maps = map_summaries(config.model.maps);
    return result;
}

}  // namespace

InspectResult inspect_job(const std::string& model) {
    const Checkpoint checkpoint = read_checkpoint(model);
    InspectResult result = describe(checkpoint.config, make_net(checkpoint));
    result.stored = {.file = resolve_model(model).string(),
                     .step = checkpoint.step,
                     .metrics = metric_values(checkpoint),
                     .classes = class_names_of(checkpoint)};
    return result;
}

InspectResult inspect_preset(const Config& config) {
    return describe(config, Net(config.model, static_cast<uint64_t>(config.train.seed)));
}

}  // namespace aft
