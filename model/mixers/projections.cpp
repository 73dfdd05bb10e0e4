#include "model/mixers/projections.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/settings.h"
#include "model/nn/fused.h"

namespace aft {

Linear make_inner_map(ParameterMaker& maker, const ModelConfig& config, const std::string& name,
                      int64_t out) {
    return make_linear(maker, config, name,
                       {.in = config.dim, .out = out, .has_bias = config.qkv_bias});
}

std::optional<Linear> make_output_map(ParameterMaker& maker, const ModelConfig& config,
                                      const std::string& prefix) {
    if (!config.output_projection) return {};
    return make_linear(maker, config, prefix + "o",
                       {config.inner_width(), config.dim, BranchPlace::end_of_branch});
}

Projections make_projections(ParameterMaker& maker, const ModelConfig& config,
                             const std::string& prefix, int64_t key_channels) {
    const int64_t inner = config.inner_width();
    const auto make = [&](const char* name, int64_t out) {
        return make_inner_map(maker, config, prefix + name, out);
    };
    Projections p;
    if (config.own.read<MixerSettings>().query_gate) p.q = make("q", inner);
    p.k = make("k", key_channels);
    p.v = make("v", inner);
    p.o = make_output_map(maker, config, prefix);
    return p;
}

Projected Projections::of_normed(const at::Tensor& x, const Norm& norm,
                                 Arithmetic arithmetic) const {
    std::vector<const Linear*> maps{&k, &v};
    if (q) maps.push_back(&*q);
    const std::vector<at::Tensor> y = normed_maps(x, norm, maps, arithmetic);
    return {.x = y[0], .q = q ? y[3] : at::Tensor(), .k = y[1], .v = y[2]};
}

at::Tensor Projections::add_out(const at::Tensor& x, const at::Tensor& y,
                                const BranchEnd& end) const {
    if (o) return add_map(x, y, *o, end);
    return x + (end.dropout == nullptr ? y : (*end.dropout)(y));
}

void show(const MixContext& context, const char* name, const at::Tensor& value) {
    if (context.tap != nullptr && value.defined()) (*context.tap)(context.prefix + name, value);
}

void check_no_heads(const ModelConfig& config) {
    const int64_t heads = config.own.read<MixerSettings>().heads;
    if (heads != 1)
        fail_usage(
            "model.heads = {}: {} has no heads; allowed: 1, or a mixer with heads: aft-conv1d, "
            "aft-conv2d, softmax and the other baselines",
            heads, config.mixer);
}

void check_heads_divide(const ModelConfig& config) {
    const int64_t heads = config.own.read<MixerSettings>().heads;
    if (config.inner_width() % heads != 0)
        fail_usage("model.heads = {} does not divide model.{} = {}", heads,
                   config.inner > 0 ? "inner" : "dim", config.inner_width());
}

}  // namespace aft
