#include "model/nn/layers.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/nn/fused.h"

namespace aft {

namespace {

bool is_fused(const at::Tensor& x, const at::Tensor& weight) {
    return can_fuse(x) && can_fuse(weight);
}

}  // namespace

at::Tensor Linear::operator()(const at::Tensor& x) const {
    if (is_fused(x, weight)) return apply_linear(x, *this);
    return at::linear(x, weight, bias);
}

at::Tensor Norm::operator()(const at::Tensor& x) const {
    if (is_fused(x, weight)) return apply_norm(x, *this);
    return at::layer_norm(x, weight.sizes(), weight, bias, eps);
}

at::Tensor Mlp::operator()(const at::Tensor& x) const {
    const at::Tensor inside = fc1(x);
    if (activation == "relu") return fc2(at::relu(inside));
    return fc2(at::gelu(inside, activation == "gelu-tanh" ? "tanh" : "none"));
}

at::Tensor Dropout::operator()(const at::Tensor& x) const {
    return is_off() ? x : x * mask(x);
}

at::Tensor Dropout::mask(const at::Tensor& x) const {
    const at::Tensor kept =
        at::empty_like(x, x.options().requires_grad(false), at::MemoryFormat::Contiguous);
    if (rate > 0)
        kept.bernoulli_(1 - rate, generator).mul_(1 / (1 - rate));
    else
        kept.fill_(1);
    if (skip_rate <= 0) return kept;
    std::vector<int64_t> by_example(static_cast<size_t>(x.dim()), 1);
    by_example[0] = x.size(0);
    at::Tensor taken = at::empty(by_example, kept.options());
    taken.bernoulli_(1 - skip_rate, generator).mul_(1 / (1 - skip_rate));
    return kept.mul_(taken);
}

Linear make_linear(ParameterMaker& maker, const ModelConfig& config, const std::string& name,
                   LinearShape shape) {
    double std = 0.02;  // GPT-2's, where the paper is silent
    if (config.init != "normal") {
        std = 1 / std::sqrt(static_cast<double>(shape.in));
        if (shape.place == BranchPlace::end_of_branch)
            std /= std::sqrt(2 * static_cast<double>(config.layers));
    }
    Linear map{
        maker.normal(name + ".weight", {shape.out, shape.in}, std, ParameterGroup::linear_weight),
        {}};
    if (shape.has_bias)
        map.bias = maker.constant(name + ".bias", {shape.out}, 0, ParameterGroup::bias);
    return map;
}

Norm make_norm(ParameterMaker& maker, const ModelConfig& config, const std::string& name) {
    return {maker.constant(name + ".weight", {config.dim}, 1, ParameterGroup::norm),
            maker.constant(name + ".bias", {config.dim}, 0, ParameterGroup::norm), config.norm_eps};
}

Mlp make_mlp(ParameterMaker& maker, const ModelConfig& config, const std::string& name) {
    const int64_t d = config.dim, inside = config.mlp_ratio * d;
    return {make_linear(maker, config, name + ".fc1", {d, inside}),
            make_linear(maker, config, name + ".fc2", {inside, d, BranchPlace::end_of_branch}),
            config.activation};
}

}  // namespace aft
