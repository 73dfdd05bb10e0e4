#include "model/probe/parts.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <charconv>

#include "core/text.h"
#include "model/data/loader.h"
#include "model/nn/input_norm.h"

namespace aft::probe {

std::string option(const ProbeRoom& room, const ProbeRequest& request, const std::string& key) {
    for (const ProbeOption& row : room.options) {
        if (row.key != key) continue;
        const auto given = request.options.find(key);
        if (given == request.options.end()) return row.standard;
        std::string allowed;
        for (const std::string& value : row.values) {
            if (value == given->second) return value;
            allowed += (allowed.empty() ? "" : ", ") + value;
        }
        fail_usage("probe {}: option {}: found '{}', allowed: {}", room.info.name, key,
                   given->second, allowed);
    }
    fail_usage("probe {} has no option {}", room.info.name, key);
}

int64_t number(const ProbeRequest& request, const std::string& key, int64_t low, int64_t high) {
    const auto given = request.options.find(key);
    if (given == request.options.end()) return -1;
    const std::string& text = given->second;
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high)
        fail_usage("probe {}: option {}: found '{}', allowed: {} to {}", request.probe, key, text,
                   low, high);
    return value;
}

void check_range(const char* what, int64_t value, int64_t count) {
    if (value < 0 || value >= count)
        fail_usage("{} {} is not there; allowed: 0 to {}", what, value, count - 1);
}

const LayerTaps& layer_taps(const ProbeContext& context, const ProbeRequest& request, bool has_it,
                            const std::string& why_not) {
    if (!has_it)
        fail_usage("layer {} is {}: {}", request.layer, context.net.config().mixer, why_not);
    return context.kept.of(context.net, request.tokens, request.layer);
}

at::Tensor net_input(const ModelConfig& model, const std::vector<uint8_t>& tokens) {
    const auto count = static_cast<int64_t>(tokens.size());
    at::Tensor flat = at::empty({count}, at::kByte);
    if (count > 0) std::memcpy(flat.data_ptr<uint8_t>(), tokens.data(), tokens.size());
    if (model.causal()) {
        if (count < 1 || count > model.tokens())
            fail_usage("the input has {} tokens; this model takes 1 to {}", count, model.tokens());
        if (flat.max().item<int64_t>() >= model.levels)
            fail_usage("the input holds the value {}; this model knows 0 to {}",
                       flat.max().item<int64_t>(), model.levels - 1);
        return flat.to(at::kLong).unsqueeze(0);
    }
    const int64_t expected = model.height * model.width * model.channels;
    if (count != expected)
        fail_usage("the picture has {} values; this model takes {} ({}x{}x{})", count, expected,
                   model.height, model.width, model.channels);
    const double top = static_cast<double>(std::max<int64_t>(model.levels - 1, 1));
    const InputNorm norm = input_norm(model);
    const auto per_channel = [&](const std::array<float, 4>& values) {
        return at::tensor(at::ArrayRef<float>(values.data(), static_cast<size_t>(model.channels)))
            .view({1, model.channels, 1, 1});
    };
    return flat.view({1, model.height, model.width, model.channels})
        .permute({0, 3, 1, 2})
        .to(at::kFloat)
        .div(top)
        .sub(per_channel(norm.mean))
        .div(per_channel(norm.std))
        .contiguous();
}

Field make_field(const at::Tensor& values, FieldText text, int64_t step) {
    const at::Tensor plain = values.detach().to(at::kCPU, at::kFloat).contiguous();
    Field field;
    field.name = std::move(text.name);
    field.unit = std::move(text.unit);
    field.axes = std::move(text.axes);
    field.notes = std::move(text.notes);
    field.step = step;
    field.shape = plain.sizes().vec();
    field.values.assign(plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel());
    AFT_ASSERT(field.axes.size() == field.shape.size());
    return field;
}

}  // namespace aft::probe

namespace aft {

const LayerTaps& Activations::of(const Net& net, const std::vector<uint8_t>& tokens,
                                 int64_t layer) {
    const auto kept = layers_.find(layer);
    if (kept != layers_.end() && tokens == tokens_) return kept->second;
    pass(net, tokens, layer);
    const auto found = layers_.find(layer);
    AFT_CHECK(found != layers_.end(),
              "layer {} ({}) shows none of q, k, v: its forward() does not call show()", layer,
              net.config().mixer);
    return found->second;
}

const at::Tensor& Activations::residual_share(const Net& net, const std::vector<uint8_t>& tokens,
                                              int64_t layer) {
    if (residual_.count(layer) == 0 || tokens != tokens_) pass(net, tokens, layer);
    return residual_.at(layer);
}

// Layers in fixed groups, so that going up or down through all of them costs one pass a group.
void Activations::pass(const Net& net, const std::vector<uint8_t>& tokens, int64_t layer) {
    const ModelConfig& model = net.config();
    const int64_t bytes = std::max<int64_t>(1, model.tokens() * model.dim * 12);
    const int64_t group = std::max<int64_t>(1, (int64_t{64} << 20) / bytes);
    clear();
    tokens_ = tokens;
    first_ = layer / group * group;
    end_ = first_ + group;
    at::Tensor stream;
    const Tap tap = [&](const std::string& name, const at::Tensor& value) {
        take(name, value.detach(), stream);
    };
    Pass pass;
    pass.tap = &tap;
    const at::Device device = net.parameters().front().value.device();
    static_cast<void>(net.forward(probe::net_input(model, tokens).to(device), pass));
}

// stream: what the next block gets.
void Activations::take(const std::string& name, const at::Tensor& value, at::Tensor& stream) {
    if (name == "embedding") stream = value;
    const std::vector<std::string> words = split(name, '.');  // blocks.{i}.q
    if (words.size() != 3 || words[0] != "blocks") return;
    const int64_t index = std::stoll(words[1]);
    if (words[2] == "out") stream = value;
    if (words[2] == "mixed") {
        const auto norm = [](const at::Tensor& x) {
            return at::linalg_vector_norm(x.select(0, 0), 2, 1).to(at::kCPU, at::kDouble);
        };
        const at::Tensor before = norm(stream), all = before + norm(value - stream);
        residual_[index] = at::where(all > 0, before / all, 1.0);
    }
    if (words[2].size() != 1 || index < first_ || index >= end_) return;
    const at::Tensor kept = value.select(0, 0).to(at::kCPU, at::kFloat).clone();
    LayerTaps& taps = layers_[index];
    if (words[2] == "q") taps.q = kept;
    if (words[2] == "k") taps.k = kept;
    if (words[2] == "v") taps.v = kept;
}

void Activations::clear() {
    tokens_.clear();
    layers_.clear();
    residual_.clear();
}

FieldSet run_probe(const ProbeContext& context, const ProbeRequest& request) {
    const ProbeRoom& room = find_room(probes(), request.probe, "probe");
    for (const auto& [key, value] : request.options) {
        bool known = false;
        std::string allowed;
        for (const ProbeOption& row : room.options) {
            known = known || row.key == key;
            allowed += (allowed.empty() ? "" : ", ") + row.key;
        }
        if (!known)
            fail_usage("probe {} has no option '{}'; allowed: {}", room.info.name, key,
                       allowed.empty() ? "none" : allowed);
    }
    if (room.needs != ProbeNeeds::biases && task_traits(context.net.config()).is_bias_alone)
        fail_usage("there are position biases alone: probe {} needs a whole model", room.info.name);
    probe::check_range("layer", request.layer, context.net.config().layers);
    if (room.needs == ProbeNeeds::input && request.tokens.empty())
        fail_usage("probe {} needs an input: --image, --text or --data with --index",
                   room.info.name);
    const at::NoGradGuard no_grad;
    return room.run(context, request);
}

}  // namespace aft
