// The kernels of aft-conv and what makes them sparse: appendix of Zhai et al. 2021 (Eq. 8 to 10).
#include <ATen/ATen.h>

#include <cmath>

#include "core/rng.h"
#include "model/mixers/aft_layer.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

// -log(-log u) with u of (seed, layer, place): the same in every pass of a step. [h, s^n]
at::Tensor gumbel_noise(const at::Tensor& like, uint64_t seed, int64_t layer) {
    at::Tensor noise = at::empty(like.sizes(), at::kDouble);
    auto* const values = noise.mutable_data_ptr<double>();
    for (int64_t i = 0; i < noise.numel(); ++i) {
        const double u =
            uniform(seed, static_cast<uint64_t>(layer), static_cast<uint64_t>(i)) + 0x1p-54;
        values[i] = -std::log(-std::log(u));
    }
    return noise.to(like.options().requires_grad(false));
}

}  // namespace

at::Tensor Kernel::weights() const {
    const at::Tensor flat = k.flatten(1);
    if (!gamma.defined()) return flat;
    const at::Tensor centred = flat - flat.mean(1, true);
    // Unbiased; a kernel of one tap has no spread, and eps guards every constant kernel.
    const auto taps = static_cast<double>(std::max<int64_t>(flat.size(1) - 1, 1));
    const at::Tensor variance = centred.square().sum(1, true) / taps;
    const at::Tensor scale = gamma.unsqueeze(1) * at::rsqrt(variance + 1e-5);
    return scale * centred + beta.unsqueeze(1);
}

at::Tensor Kernel::effective(const MixContext& context) const {
    const at::Tensor w = weights();
    if (gumbel_tau <= 0) return w.view_as(k);
    at::Tensor sample;
    if (context.noise)
        sample = nn::row_softmax((w + gumbel_noise(w, *context.noise, context.layer)) / gumbel_tau);
    else
        sample = at::zeros_like(w).scatter_(1, w.argmax(1, true), 1.0);
    return (w * sample).view_as(k);
}

at::Tensor Kernel::entropy() const {
    // Summed by rows first: no sum of these is split by the number of threads.
    const at::Tensor w = weights(), logs = w - w.logsumexp(1, true);
    return -(logs.exp() * logs).sum(1).sum();
}

at::Tensor kernel_penalty(const Kernel& kernel, const KernelSettings& settings) {
    if (settings.kernel_entropy <= 0) return {};
    return settings.kernel_entropy * kernel.entropy();
}

MixerTraits kernel_traits(const ModelConfig& config, BiasLayout layout) {
    MixerTraits traits = aft_traits(config);
    traits.bias = layout;
    const auto settings = config.own.read<KernelSettings>();
    traits.window = settings.window;
    traits.outside_hidden = settings.hides_outside();
    traits.keys_by_head = true;
    const auto side = static_cast<double>(traits.window);
    const double taps = layout == BiasLayout::kernel_2d ? side * side : side;
    const double scales = settings.naive_kernel ? 0 : 2;  // gamma and beta
    traits.bias_values = static_cast<double>(traits.heads) * (taps + scales);
    return traits;
}

std::vector<IdleSetting> idle_of_kernel(const ModelConfig& config) {
    if (config.own.read<KernelSettings>().naive_kernel) return {};
    return {{"model.bias_std", "model.naive_kernel=false", "model.naive_kernel=true"}};
}

Kernel make_kernel(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix,
                   at::IntArrayRef shape) {
    const auto settings = config.own.read<KernelSettings>();
    Kernel kernel;
    const double std = settings.naive_kernel ? settings.bias_std : 1;
    kernel.gumbel_tau = settings.kernel_gumbel_tau;
    kernel.k = maker.normal(prefix + "kernel", shape, std, ParameterGroup::position_bias);
    if (settings.naive_kernel) return kernel;
    const auto zeros = [&](const char* name) {
        return maker.constant(prefix + name, {shape[0]}, 0, ParameterGroup::position_bias);
    };
    kernel.gamma = zeros("gamma");
    kernel.beta = zeros("beta");
    return kernel;
}

Kernel given_kernel(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) {
    Kernel kernel;
    kernel.k = maker.given(prefix + "kernel", w, ParameterGroup::position_bias);
    return kernel;
}

}  // namespace aft
