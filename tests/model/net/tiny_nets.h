// One tiny net per mixer and task, with weights of some size everywhere, for tests of probes and
// decoding that walk the list of mixers.
#pragma once
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <string>
#include <vector>

#include "core/rng.h"
#include "model/mixers/mixer.h"
#include "model/net/net.h"
#include "tests/model/net/small_nets.h"

namespace aft {

inline ModelConfig tiny_model(const std::string& mixer, const std::string& task) {
    ModelConfig model = small_config(mixer, task);
    model.init = "normal";
    model.own["heads"] = takes_heads(model) ? 2 : 1;
    model.own["window"] = mixer == "aft-local" ? 5 : 3;
    model.own["factors"] = 4;
    model.channels = 1;
    model.levels = 8;
    model.own["length"] = 12;
    model.own["classes"] = 3;
    return model;
}

inline Net tiny_net(const ModelConfig& model, at::Device device = at::kCPU) {
    constexpr uint64_t seed = 1;
    const at::NoGradGuard no_grad;
    Net net(model, seed, device);
    uint64_t stream = 0;
    for (Parameter& parameter : net.parameters()) {
        CounterRng rng(seed, ++stream);
        at::Tensor values = at::empty({parameter.value.numel()}, at::kFloat);
        for (int64_t i = 0; i < values.numel(); ++i)
            values.data_ptr<float>()[i] = static_cast<float>(0.6 * rng.normal());
        parameter.value.add_(values.view(parameter.value.sizes()).to(device));
        parameter.value.set_requires_grad(false);
    }
    return net;
}

// Every (mixer, task) that a tiny net can be made of.
inline std::vector<ModelConfig> tiny_models(bool sequences, bool pictures) {
    std::vector<ModelConfig> out;
    for (const MixerRoom& room : mixers()) {
        const std::string& name = room.info.name;
        if (sequences && room.traits({}).causal) out.push_back(tiny_model(name, "image"));
        if (sequences && room.traits({}).causal && !room.traits({}).on_grid)
            out.push_back(tiny_model(name, "text"));
        if (pictures && room.traits({}).non_causal && room.traits({}).bias != BiasLayout::kernel_1d)
            out.push_back(tiny_model(name, "classify"));
    }
    return out;
}

inline std::vector<uint8_t> tiny_tokens(const ModelConfig& model, uint64_t seed = 3) {
    const int64_t count =
        model.task == "text" ? model.tokens() : model.height * model.width * model.channels;
    CounterRng rng(seed, 0);
    std::vector<uint8_t> tokens;
    for (int64_t i = 0; i < count; ++i)
        tokens.push_back(static_cast<uint8_t>(rng.below(model.levels)));
    return tokens;
}

}  // namespace aft
