// toy-decay: a mixer that the program does not have. Weights fall with the distance, faster in each
// head than in the one before:
//   Y[t,c] = sum_j exp(K[j,c] + w_h[t,j]) V[j,c] / sum_j exp(K[j,c] + w_h[t,j]),  c of head h,
//   w_h[t,j] = -r_h |t - j|^p        r learned, p the room's own setting model.decay_power
// A bias of a shape that no other room has ([heads, T, T]), no operator of model/ops, no gate, no
// state of its own for decoding. O(T^2 d).
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/cost.h"
#include "model/mixers/projections.h"
#include "model/mixers/settings.h"

namespace aft {

MixerRoom toy_mixer();

namespace {

struct ToySettings {
    int64_t heads = 1;
    double decay_power = 0.5;
    void visit(SettingRows& rows) {
        rows.push_back(heads_row(&heads));
        rows.push_back(number_row("model.decay_power", &decay_power,
                                  "toy-decay: power of the distance that weights fall with.",
                                  {0, 4}));
    }
};

class ToyDecay final : public Mixer {
  public:
    ToyDecay(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : settings_(config.own.read<ToySettings>()),
          is_causal_(config.causal()),
          k_(make_linear(maker, config, prefix + "k", {config.dim, config.dim})),
          v_(make_linear(maker, config, prefix + "v", {config.dim, config.dim})),
          rate_(maker.constant(prefix + "rate", {settings_.heads}, 0.1,
                               ParameterGroup::position_bias)) {}

    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        const at::Tensor k = k_(x), v = v_(x);
        show(context, "k", k);
        show(context, "v", v);
        const int64_t B = x.size(0), T = x.size(1), h = settings_.heads;
        const at::Tensor keys = k.view({B, T, h, -1}), values = v.view({B, T, h, -1});
        const at::Tensor e = at::exp(keys - keys.detach().amax(1, true));
        at::Tensor weights = at::exp(decay(T));
        if (is_causal_) weights = weights.tril();
        const at::Tensor sum = at::einsum("htj,bjhc->bthc", {weights, e * values});
        return (sum / at::einsum("htj,bjhc->bthc", {weights, e})).reshape(x.sizes());
    }
    [[nodiscard]] std::optional<at::Tensor> bias(int64_t T) const override {
        return decay(T).detach();
    }
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const at::Tensor k = key_maps(request.taps);
        AttentionLogits out;
        out.logits = request.content ? k.clone() : at::zeros_like(k);
        if (request.bias.defined())
            out.logits += request.bias.repeat_interleave(k.size(0) / settings_.heads, 0);
        out.gate = at::ones({k.size(0)}, at::kDouble);
        return out;
    }
    [[nodiscard]] at::Tensor key_maps(const LayerTaps& taps) const override {
        return taps.k.to(at::kDouble).t();
    }

  private:
    [[nodiscard]] at::Tensor decay(int64_t T) const {  // [heads, T, T]
        const at::Tensor t = at::arange(T, rate_.options());
        const at::Tensor away = (t.unsqueeze(1) - t.unsqueeze(0)).abs().pow(settings_.decay_power);
        return -rate_.view({-1, 1, 1}) * away;
    }

    ToySettings settings_;
    bool is_causal_;
    Linear k_, v_;
    at::Tensor rate_;  // [heads]
};

MixerTraits toy_traits(const ModelConfig& config) {
    MixerTraits traits;
    traits.bias = BiasLayout::matrix;
    traits.heads = config.own.read<ToySettings>().heads;
    traits.free_rows = true;
    traits.bias_values = static_cast<double>(traits.heads);
    traits.has_attention = traits.has_key_maps = true;
    traits.words = config.mixer;
    traits.no_gate = "toy-decay has no gate";
    return traits;
}

std::unique_ptr<Mixer> make_toy(const ModelConfig& config, ParameterMaker& maker,
                                const std::string& prefix) {
    return std::make_unique<ToyDecay>(config, maker, prefix);
}

MixerCost toy_cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const double T = count.T, d = count.d;
    count.map(d, d, true);
    count.map(d, d, true);
    count.cost.parameters += count.h;
    count.product(2 * d * T * T);
    count.keep(2 * count.h * T * T + 4 * T * d);
    return {count.cost, "T^2 d", "T^2 h + T d"};
}

}  // namespace

MixerRoom toy_mixer() {
    return {.info = {"toy-decay", "Weights that fall with the distance, for tests."},
            .traits = toy_traits,
            .visit = visit_settings<ToySettings>,
            .check = check_heads_divide,
            .make = make_toy,
            .cost = toy_cost};
}

}  // namespace aft
