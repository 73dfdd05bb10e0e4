// Small configs that together use every mixer, task and option: what the tests of the net walk.
#pragma once
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <string>
#include <vector>

#include "model/net/net.h"
#include "tests/model/test_device.h"

namespace aft {

struct NetCase {
    std::string label;
    ModelConfig config;
};

// Most mixers have one head and refuse more.
inline bool takes_heads(ModelConfig config) {
    config.own["heads"] = 2;
    try {
        config.check();
    } catch (const Error& error) {
        return std::string_view(error.what()).find("model.heads") == std::string_view::npos;
    }
    return true;
}

inline ModelConfig small_config(const std::string& mixer, const std::string& task) {
    ModelConfig config;
    config.task = task;
    config.mixer = mixer;
    config.layers = 2;
    config.dim = 8;
    config.own["factors"] = 3;
    config.height = 4;
    config.width = 4;
    config.channels = task == "image" ? 2 : 1;
    config.levels = task == "image" ? 6 : 256;
    config.own["length"] = 24;
    config.own["patch"] = 1;
    config.init = "fan-in";
    config.own["window"] = 3;
    config.own["features"] = 8;
    config.own["buckets"] = 4;
    config.own["stride"] = 3;
    config.own["block_height"] = config.own["block_width"] = 2;
    config.own["key_depth"] = 4;
    config.own["heads"] = takes_heads(config) ? 2 : 1;
    if (task == "classify" && mixer_traits(config).has_kernel()) config.positions = "none";
    return config;
}

// Every mixer with every task that it serves, then the options.
inline std::vector<NetCase> small_cases() {
    at::set_num_threads(1);  // for nets of this size more threads only wait for each other
    std::vector<NetCase> cases;
    for (const MixerRoom& room : mixers())
        for (const char* task : {"image", "text", "classify"}) {
            ModelConfig config = small_config(room.info.name, task);
            const bool serves =
                config.causal() ? room.traits(config).causal : room.traits(config).non_causal;
            if (!serves || (room.traits(config).on_grid && config.task == "text")) continue;
            cases.push_back({room.info.name + " " + task, config});
        }
    const auto option = [&](const char* label, const char* mixer, const char* task, auto change) {
        ModelConfig config = small_config(mixer, task);
        change(config);
        cases.push_back({label, config});
    };
    option("local hidden", "aft-local", "image", [](auto& c) { c.own["outside"] = "-inf"; });
    option("local inner", "aft-local", "text", [](auto& c) { c.inner = 12; });
    option("softmax inner", "softmax", "image", [](auto& c) { c.inner = 6; });
    option("no bias of q, k, v", "aft-full", "image", [](auto& c) { c.qkv_bias = false; });
    const auto wide = [](auto& c) { c.inner = 12, c.qkv_bias = false; };
    for (const char* mixer : {"linear", "local-softmax", "performer", "reformer", "synthesizer"})
        option(fmt::format("{} inner", mixer).c_str(), mixer, "text", wide);
    option("lambda inner", "lambda", "classify", wide);
    option("no start token", "aft-local", "text", [](auto& c) { c.start_token = false; });
    option("sinusoidal", "aft-simple", "text", [](auto& c) { c.positions = "sinusoidal"; });
    option("local w", "aft-local", "image",
           [](auto& c) { c.own["factors"] = 0, c.own["bias_std"] = 1; });
    option("local none", "aft-local", "image", [](auto& c) { c.own["window"] = 0; });
    option("local wide", "aft-local", "image", [](auto& c) { c.own["window"] = 1000; });
    option("local one", "aft-local", "text", [](auto& c) { c.own["window"] = 1; });
    option("full w", "aft-full", "text",
           [](auto& c) { c.own["factors"] = 0, c.own["bias_std"] = 1; });
    option("full gateless", "aft-full", "image", [](auto& c) { c.own["query_gate"] = false; });
    option("simple bare", "aft-simple", "text", [](auto& c) { c.output_projection = false; });
    option("conv1d even", "aft-conv1d", "text", [](auto& c) { c.own["window"] = 4; });
    option("conv1d wide", "aft-conv1d", "text", [](auto& c) { c.own["window"] = 40; });
    option("conv2d naive", "aft-conv2d", "image", [](auto& c) { c.own["naive_kernel"] = true; });
    option("conv2d wide", "aft-conv2d", "image",
           [](auto& c) { c.own["window"] = 5, c.own["heads"] = 8; });
    option("conv1d hidden", "aft-conv1d", "text", [](auto& c) { c.own["outside"] = "-inf"; });
    option("conv1d gumbel", "aft-conv1d", "text",
           [](auto& c) { c.own["kernel_gumbel_tau"] = 0.5; });
    option("conv2d hidden", "aft-conv2d", "image", [](auto& c) { c.own["outside"] = "-inf"; });
    option("conv2d hidden pictures", "aft-conv2d", "classify",
           [](auto& c) { c.own["outside"] = "-inf"; });
    option("reformer one bucket", "reformer", "text",
           [](auto& c) { c.own["buckets"] = 1, c.own["window"] = 40; });
    option("performer class token", "performer", "classify",
           [](auto& c) { c.own["class_token"] = true; });
    option("full class token", "aft-full", "classify",
           [](auto& c) { c.own["class_token"] = true; });
    option("full distilled", "aft-full", "classify",
           [](auto& c) { c.own["class_token"] = c.own["distillation_token"] = true; });
    option("softmax relu", "softmax", "classify",
           [](auto& c) { c.own["class_token"] = true, c.activation = "relu"; });
    option("local ordered", "aft-local", "image",
           [](auto& c) { c.init = "ordered", c.activation = "gelu-tanh"; });
    return cases;
}

// Targets [batch, T] or pictures [batch, C, H, W] that fit a config; on the CPU.
inline at::Tensor input_for(const ModelConfig& config, int64_t batch, int64_t seed) {
    at::manual_seed(static_cast<uint64_t>(seed));
    if (config.task == "classify")
        return at::randn({batch, config.channels, config.height, config.width});
    return at::randint(config.levels, {batch, config.tokens()}, at::kLong);
}

// Moves every parameter away from its start, so that nothing is zero by construction.
inline void shake(Net& net, double amount, int64_t seed) {
    const at::NoGradGuard no_gradients;
    at::manual_seed(static_cast<uint64_t>(seed));
    for (Parameter& p : net.parameters()) {
        const at::Tensor change = at::randn(p.value.sizes(), p.value.scalar_type());
        p.value.add_(change.to(p.value.device()), amount);
    }
}

inline void to_double(Net& net) {
    for (Parameter& p : net.parameters()) p.value.set_data(p.value.detach().to(at::kDouble));
}

inline double difference(const at::Tensor& a, const at::Tensor& b) {
    return (a.cpu().to(at::kDouble) - b.cpu().to(at::kDouble)).abs().max().item<double>();
}

inline double largest(const at::Tensor& a) {
    return a.abs().max().item<double>();
}

}  // namespace aft
