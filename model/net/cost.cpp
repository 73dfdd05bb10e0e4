#include "model/net/cost.h"

#include <fmt/format.h>

#include <cmath>

#include "model/nn/embedding.h"

namespace aft {

namespace {

constexpr double kFloatBytes = 4;  // bytes of float32

void add(LayerCost& to, const LayerCost& one, double times) {
    to.parameters += times * one.parameters;
    to.forward_flops += times * one.forward_flops;
    to.backward_flops += times * one.backward_flops;
    to.kept_bytes += times * one.kept_bytes;
    to.decode_flops += times * one.decode_flops;
    to.state_bytes += times * one.state_bytes;
}

// A linear map of `rows` rows; its inputs are kept elsewhere.
LayerCost map_cost(double rows, double in, double out) {
    return {.parameters = in * out + out,
            .forward_flops = 2 * rows * in * out,
            .backward_flops = 4 * rows * in * out,
            .kept_bytes = 0,
            .decode_flops = 2 * in * out,
            .state_bytes = 0};
}

LayerCost embedding_cost(const ModelConfig& model, double T) {
    const auto d = static_cast<double>(model.dim);
    LayerCost cost;
    if (model.causal()) {
        cost.parameters = d * (static_cast<double>(model.levels) + (model.start_token ? 1 : 0));
        cost.kept_bytes = 2 * kFloatBytes * T;  // rows of the table, int64
    } else {
        const auto patches = model.own.read<PatchSettings>();
        const auto side = static_cast<double>(patches.patch);
        const double values = static_cast<double>(model.channels) * side * side;
        const auto prefix = static_cast<double>(model.prefix_tokens());
        const double rows = T - prefix;
        cost = map_cost(rows, values, d);
        cost.backward_flops /= 2;  // the picture has no gradient
        cost.decode_flops = 0;
        cost.kept_bytes = kFloatBytes * rows * values;
        cost.parameters += prefix * d;
    }
    if (model.positions == "learned") cost.parameters += T * d;
    return cost;
}

// With its norm's statistics and input; the exact GELU is fused and keeps the inside alone.
LayerCost mlp_cost(const ModelConfig& model, double T) {
    const auto d = static_cast<double>(model.dim);
    const double inside = d * static_cast<double>(model.mlp_ratio);
    LayerCost cost = map_cost(T, d, inside);
    add(cost, map_cost(T, inside, d), 1);
    double kept = d + 2 + inside;
    if (model.activation != "gelu") kept += d;
    if (model.activation == "gelu-tanh") kept += inside;
    if (model.dropout > 0) kept += 2 * d;  // masks, that of the mixer's branch too
    cost.kept_bytes = kFloatBytes * T * kept;
    return cost;
}

LayerCost head_cost(const ModelConfig& model, double T) {
    const auto d = static_cast<double>(model.dim), out = static_cast<double>(model.outputs());
    const double rows = model.causal() ? T : 1;
    LayerCost cost = map_cost(rows, d, out);
    if (!model.causal()) cost.decode_flops = 0;
    if (model.prefix_tokens() == 2) add(cost, map_cost(1, d, out), 1);  // a head for each
    cost.kept_bytes = kFloatBytes * rows * (d + out);  // its input, the gradient of the logits
    return cost;
}

}  // namespace

CostShape shape_of(const ModelConfig& model) {
    return {.tokens = model.tokens(),
            .grid_height = model.grid_height(),
            .grid_width = model.grid_width()};
}

bool has_grid_like(const ModelConfig& model, CostShape& shape) {
    const int64_t cells = shape.tokens - model.prefix_tokens();
    const double wanted = std::log(static_cast<double>(model.grid_height()) /
                                   static_cast<double>(model.grid_width()));
    double nearest = std::log(4.0) + 1e-9;
    bool any = false;
    const auto take = [&](int64_t height, int64_t width) {
        const double ratio = std::log(static_cast<double>(height) / static_cast<double>(width));
        if (std::abs(ratio - wanted) >= nearest) return;
        nearest = std::abs(ratio - wanted);
        shape.grid_height = height;
        shape.grid_width = width;
        any = true;
    };
    for (int64_t side = 1; side * side <= cells; ++side) {
        if (cells % side != 0) continue;
        take(side, cells / side);
        take(cells / side, side);
    }
    return any;
}

NetCost net_cost(const ModelConfig& model, const CostShape& shape) {
    const auto T = static_cast<double>(shape.tokens), d = static_cast<double>(model.dim);
    const auto layers = static_cast<double>(model.layers);
    NetCost out;
    const auto part = [&](const std::string& name, const LayerCost& one, double times) {
        NetPart of{name, {}};
        add(of.cost, one, times);
        add(out.all, one, times);
        out.parts.push_back(of);
    };
    const LayerCost mixer = mixer_cost(model, shape).layer;
    const std::string mixers = fmt::format("mixers ({} x {})", model.layers, model.mixer);
    if (task_traits(model).is_mixer_alone) {
        part(mixers, mixer, layers);
        return out;
    }
    const bool causal = model.causal();
    LayerCost mlp = mlp_cost(model, T);
    if (!causal) mlp.decode_flops = 0;
    const LayerCost norm{.parameters = 2 * d};
    part("embedding", embedding_cost(model, T), 1);
    part(mixers, mixer, layers);
    part(fmt::format("MLPs ({})", model.layers), mlp, layers);
    part(fmt::format("norms ({})", 2 * model.layers + 1), norm, 2 * layers + 1);
    out.parts.back().cost.kept_bytes += kFloatBytes * T * (d + 2);  // of the last one
    out.all.kept_bytes += kFloatBytes * T * (d + 2);
    part("head", head_cost(model, T), 1);
    const double inside = mixer.kept_bytes + mlp.kept_bytes;
    out.recomputed_bytes =
        out.all.kept_bytes - layers * inside + inside + layers * kFloatBytes * T * d;
    out.recomputed_flops = layers * (mixer.forward_flops + mlp.forward_flops);
    return out;
}

}  // namespace aft
