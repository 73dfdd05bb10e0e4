// What the tests of probes share: a tiny net with everything a probe asks for, dense definitions.
#pragma once
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "model/mixers/aft_layer.h"
#include "model/ops/aft.h"
#include "model/probe/probe.h"
#include "tests/model/net/tiny_nets.h"

namespace aft {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bench {
    explicit Bench(const ModelConfig& config) : model(config), net(tiny_net(config)) {}
    FieldSet run(ProbeRequest request) { return run_probe({net, 7, control, kept}, request); }
    ModelConfig model;
    Net net;
    JobControl control;
    Activations kept;
};

inline at::Tensor tensor_of(const Field& field) {
    return at::tensor(field.values).view(field.shape).to(at::kDouble);
}

inline std::string words(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

inline MixContext context_of(const ModelConfig& model) {
    MixContext context;
    context.grid_height = model.grid_height();
    context.grid_width = model.grid_width();
    return context;
}

// False for a mixer without an operator of model/ops, which cannot be compared with one.
inline bool is_aft_layer(const Net& net, int64_t layer) {
    return dynamic_cast<const AftLayer*>(&net.mixer(layer)) != nullptr;
}

inline const AftLayer& aft_layer(const Net& net, int64_t layer) {
    return dynamic_cast<const AftLayer&>(net.mixer(layer));
}

// [1 or h, T, T], hidden sources at -inf.
inline at::Tensor dense(const Net& net, int64_t layer) {
    const AftLayer& mixer = aft_layer(net, layer);
    const int64_t T = net.config().tokens();
    const at::Tensor w = ops::dense_bias(mixer.kind(), mixer.bias_inputs(T),
                                         mixer.options(context_of(net.config())), T)
                             .to(at::kDouble);
    return w.dim() == 2 ? w.unsqueeze(0) : w;
}

}  // namespace aft
