#include "model/mixers/cost.h"

#include <algorithm>

#include "model/mixers/settings.h"

namespace aft {

LayerCount::LayerCount(const ModelConfig& model, const CostShape& shape)
    : T(static_cast<double>(shape.tokens)),
      d(static_cast<double>(model.dim)),
      n(static_cast<double>(model.inner_width())),
      h(static_cast<double>(model.own.read<MixerSettings>().heads)),
      w(n / h),
      causal(model.causal()) {}

void LayerCount::map(double in, double out, bool has_bias) {
    cost.parameters += in * out + (has_bias ? out : 0);
    cost.decode_flops += 2 * in * out;
    product(T * in * out);
}

void LayerCount::product(double multiply_adds, double backward) {
    cost.forward_flops += 2 * multiply_adds;
    cost.backward_flops += 2 * backward * multiply_adds;
}

void count_output_map(LayerCount& count, const ModelConfig& model) {
    if (!model.output_projection) return;
    count.map(count.n, count.d, true);
    count.keep(count.T * count.n);
}

void count_projections(LayerCount& count, const ModelConfig& model, double key_channels,
                       Operands operands) {
    const double d = count.d, n = count.n;
    const bool has_query = model.own.read<MixerSettings>().query_gate;
    const double before = count.cost.forward_flops;
    if (has_query) count.map(d, n, model.qkv_bias);
    count.map(d, key_channels, model.qkv_bias);
    count.map(d, n, model.qkv_bias);
    count.keep(count.T * (d + 2));
    if (operands == Operands::recomputed && model.output_projection) {
        count.cost.backward_flops += count.cost.forward_flops - before;
        count.map(n, d, true);
        return;
    }
    if (operands != Operands::copied)
        count.keep(count.T * (key_channels + n * (has_query ? 2 : 1)));
    count_output_map(count, model);
}

double visible_pairs(double T, double window, bool causal) {
    const double s = std::clamp(window, 0.0, T);
    if (s == 0) return 0;
    return causal ? s * T - s * (s - 1) / 2 : T * (2 * s - 1) - s * (s - 1);
}

void count_running_sums(LayerCount& count) {
    count.cost.forward_flops += 12 * count.T * count.n;
    count.cost.backward_flops += 30 * count.T * count.n;
    count.cost.decode_flops += 12 * count.n;
}

bool is_averaged_again(const WindowSize& window, double d) {
    constexpr double kShare = 1.0 / 25, kStep = 36;
    return window.sources * (window.values + window.keys + window.factors) <=
           kShare * kStep * d * d;
}

void count_averages(LayerCount& count, const WindowSize& window, bool is_fused) {
    if (is_fused && is_averaged_again(window, count.d))
        count.cost.backward_flops +=
            2 * count.T * window.sources * (window.values + window.keys + window.factors);
    else
        count.keep(count.T * (window.values + window.keys));
}

void count_weighted_sums(LayerCount& count, const ModelConfig& model, double pairs) {
    const auto factors = static_cast<double>(model.own.read<BiasTableSettings>().factors);
    const double T = count.T;
    count.product(2 * count.n * pairs);
    if (factors > 0) count.product(factors * pairs, 3);
    count.cost.parameters += factors > 0 ? 2 * T * factors : T * T;
    count_averages(count,
                   {.sources = pairs / T, .values = count.n, .keys = count.n, .factors = factors},
                   model.output_projection);
}

void count_history(LayerCount& count, const ModelConfig& model, double sources) {
    constexpr double kBlock = 32;
    const auto factors = static_cast<double>(model.own.read<BiasTableSettings>().factors);
    count.cost.decode_flops += sources * (4 * count.n + 2 * factors);
    count.cost.state_bytes += 4 * count.n * 3 * (sources + kBlock + 1);
}

void count_kernel(LayerCount& count, const ModelConfig& model, const KernelCount& kernel) {
    const auto settings = model.own.read<KernelSettings>();
    const double n = count.n, h = count.h;
    count_projections(count, model, h,
                      settings.hides_outside() ? Operands::kept : Operands::recomputed);
    count.cost.parameters += h * kernel.values + (settings.naive_kernel ? 0 : 2 * h);
    count.product(kernel.pairs * (n + h));
    if (!settings.hides_outside()) count_running_sums(count);
    count_averages(count, {.sources = kernel.values, .values = n, .keys = h},
                   model.output_projection && !settings.hides_outside());
    // Eq. 8 keeps the centred kernel and its result, Eq. 10 the sample and the product.
    const double tables =
        (settings.naive_kernel ? 0 : 2) + (settings.kernel_gumbel_tau > 0 ? 2 : 0);
    count.keep(tables * h * kernel.values);
    count.cost.decode_flops += 2 * kernel.history * (n + h);
    // A ring of twice the history of K, exp(K), V and exp(K) V, and the sums of what left it.
    count.cost.state_bytes += 8 * (4 * kernel.history * (n + h) + 2 * h + n);
}

void count_attention(LayerCount& count, double pairs) {
    count.product(2 * count.n * pairs, 2.5);
    count.keep(count.h * count.T);
}

void count_block_attention(LayerCount& count, const ModelConfig& model, const BlockCount& blocks) {
    count_projections(count, model, count.n, Operands::copied);
    const double targets = blocks.blocks * blocks.targets, sources = blocks.blocks * blocks.sources;
    count.product(2 * count.n * targets * blocks.sources, 2.5);
    count.keep(2 * count.n * targets + 2 * count.n * sources);  // q, result; k, v
    count.keep(count.h * targets + targets * blocks.sources);   // sums of rows; the mask
    count_key_value_cache(count, blocks.seen);
}

void count_key_value_cache(LayerCount& count, double sources) {
    count.cost.decode_flops += 4 * count.n * sources;
    count.cost.state_bytes += 4 * 2 * count.n * count.T;
}

}  // namespace aft
