// inspect and run: what is in a model, and a model (or one layer of it) on own tensors.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/device.h"
#include "model/jobs.h"

namespace aft {

namespace {

using Json = nlohmann::json;

// The cells of w [T, T] that the operator uses: visible, and inside the window.
at::Tensor used_cells(const at::Tensor& w, const ModelConfig& config) {
    at::Tensor used = at::ones_like(w, at::TensorOptions().dtype(at::kBool));
    if (config.causal()) used = used.tril();
    if (const int64_t window = mixer_traits(config).window; window > 0)
        used = used.tril(window - 1).triu(1 - window);
    return w.masked_select(used);
}

Json statistics(int64_t layer, int64_t head, const at::Tensor& values) {
    return {{"layer", layer},
            {"head", head},
            {"min", values.min().item<double>()},
            {"max", values.max().item<double>()},
            {"mean", values.mean(at::kDouble).item<double>()},
            {"norm", values.to(at::kDouble).norm().item<double>()}};
}

Json bias_statistics(const Net& net) {
    Json rows = Json::array();
    const ModelConfig& config = net.config();
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

Json describe(const Config& config, const Net& net) {
    std::vector<int64_t> per_layer(static_cast<size_t>(config.model.layers), 0);
    Json tensors = Json::array();
    for (const Parameter& parameter : net.parameters()) {
        if (parameter.layer >= 0)
            per_layer[static_cast<size_t>(parameter.layer)] += parameter.value.numel();
        tensors.push_back({{"name", parameter.name},
                           {"shape", parameter.value.sizes().vec()},
                           {"dtype", c10::toString(parameter.value.scalar_type())},
                           {"min", parameter.value.min().item<double>()},
                           {"max", parameter.value.max().item<double>()}});
    }
    return {{"name", config.name},
            {"task", config.model.task},
            {"parameters", parameter_count(net.parameters())},
            {"parameters_per_layer", per_layer},
            {"tokens", config.model.tokens()},
            {"tensors", tensors},
            {"bias", bias_statistics(net)},
            {"config", config_to_json(config)}};
}

// The named input, in the dtype of the net.
at::Tensor input_of(const TensorFile& file, const RunRequest& request, const std::string& name,
                    at::Device device) {
    const at::Tensor* found = file.find(name);
    if (found == nullptr) {
        std::vector<std::string> names;
        for (const auto& [known, tensor] : file.tensors) names.push_back(known);
        fail("{}: needs a tensor '{}', found: {}", request.in, name,
             names.empty() ? "none" : shown_names(names));
    }
    const bool whole = !found->is_floating_point();
    if (whole != (name == "tokens"))
        fail("{}: '{}' is {}, found {}", request.in, name,
             name == "tokens" ? "int64" : "float32 or float64",
             c10::toString(found->scalar_type()));
    return found->to(device, whole ? at::kLong : at::kFloat);
}

at::Tensor evaluate(const Net& net, const TensorFile& file, const RunRequest& request) {
    const at::Device device = net.parameters().front().value.device();
    if (!request.part.empty()) {
        return net.forward_layer(request.layer, request.part == "block",
                                 input_of(file, request, "x", device));
    }
    if (!net.config().causal()) return net.forward(input_of(file, request, "image", device), {});
    return net.forward_fed(input_of(file, request, "tokens", device), {});
}

}  // namespace

nlohmann::json inspect_job(const std::string& model) {
    const Checkpoint checkpoint = read_checkpoint(model);
    Json result = describe(checkpoint.config, make_net(checkpoint));
    result["model"] = resolve_model(model).string();
    result["step"] = checkpoint.step;
    result["metrics"] = checkpoint.metrics;
    return result;
}

nlohmann::json inspect_preset(const Config& config) {
    return describe(config, Net(config.model, static_cast<uint64_t>(config.train.seed)));
}

nlohmann::json run_job(const RunRequest& request) {
    const at::NoGradGuard no_gradients;
    const Net net = make_net(read_checkpoint(request.model), parse_device(request.device));
    if (!request.part.empty() && request.part != "mixer" && request.part != "block")
        fail_usage("--part {}: allowed: mixer, block", request.part);
    const int64_t layers = net.config().layers;
    if (!request.part.empty() && (request.layer < 0 || request.layer >= layers))
        fail_usage("--layer {}: there is no such layer; allowed: 0 to {}", request.layer,
                   layers - 1);
    const TensorFile in = read_tensors(request.in);
    at::Tensor y;
    try {
        y = evaluate(net, in, request).to(at::kCPU).contiguous();
    } catch (const Error& error) {
        const std::string text = error.what();
        if (text.starts_with(request.in)) throw;
        fail("{}: {}", request.in, text);  // what does not fit is in the file
    }
    const std::string name = request.part.empty() ? "logits" : "y";
    write_safetensors(request.out, {.tensors = {{name, y}}, .metadata = {}});
    return {{"out", request.out}, {"tensor", name}, {"shape", y.sizes().vec()}};
}

}  // namespace aft
