// softmax: multi-head attention, the baseline (Vaswani et al. 2017, section 3.2; the paper's Eq.
// 1).
//   Y = concat_i softmax(Q_i K_i^T / sqrt(d/h)) V_i
// Time O(T^2 d); memory O(T d) through LibTorch's own fused kernel. Streaming: the usual cache of K
// and V, O(t d) per token.
#include <ATen/ATen.h>

#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/attention.h"

namespace aft {

namespace {

class Softmax final : public AttentionLayer {
  public:
    using AttentionLayer::AttentionLayer;

    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override {
        return cache(batch);
    }
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override {
        auto& cache = dynamic_cast<KeyValueCache&>(state);
        const Heads token = project(x.unsqueeze(1));
        cache.append(token.k, token.v);
        const at::Tensor y =
            at::scaled_dot_product_attention(token.q, cache.keys(), cache.values());
        return join(y).squeeze(1);
    }

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override {
        return nn::fused_attention(in.q, in.k, in.v, {.causal = config().causal()});
    }
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Softmax>(config, maker, prefix);
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    traits.no_bias = "Softmax attention has no position bias";
    traits.no_gate = "Softmax attention has no gate";
    traits.no_keys =
        "Softmax compares its keys with queries, so that no map exp(K) holds for every target";
    return traits;
}

MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    count_projections(count, config, count.n);
    // The result is the input of the output projection, or kept for itself.
    if (!config.output_projection) count.keep(count.T * count.n);
    count_attention(count, visible_pairs(count.T, count.T, count.causal));
    count_key_value_cache(count, count.T);
    return {count.cost, "T^2 d", "T^2 + T d"};
}

}  // namespace

MixerRoom softmax_mixer() {
    return {.info = {"softmax", "Multi-head attention, the baseline."},
            .traits = traits,
            .visit = visit_settings<MixerSettings>,
            .check = check_attention,
            .make = make,
            .cost = cost};
}

}  // namespace aft
