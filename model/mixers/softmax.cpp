// softmax: multi-head attention, the baseline (Vaswani et al. 2017, section 3.2; the paper's Eq.
// 1).
//   Y = concat_i softmax(Q_i K_i^T / sqrt(d/h)) V_i
// Time O(T^2 d); memory O(T d) through LibTorch's own fused kernel. Streaming: the usual cache of K
// and V, O(t d) per token.
#include <ATen/ATen.h>

#include <cmath>

#include "core/check.h"
#include "model/mixers/projections.h"
#include "model/mixers/settings.h"
#include "model/nn/fused.h"

namespace aft {

namespace {

constexpr int64_t kFirstCapacity = 64;

struct SoftmaxState final : MixerState {
    at::Tensor k, v;  // [B, h, capacity, d/h]
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override {
        auto copy = std::make_unique<SoftmaxState>(*this);
        copy->k = k.clone();
        copy->v = v.clone();
        return copy;
    }
    void select(const at::Tensor& rows) override {
        k = k.index_select(0, rows);
        v = v.index_select(0, rows);
    }
    // new_k, new_v [B, h, 1, d/h]
    void append(const at::Tensor& new_k, const at::Tensor& new_v) {
        if (position == k.size(2)) {
            k = at::cat({k, at::zeros_like(k)}, 2);
            v = at::cat({v, at::zeros_like(v)}, 2);
        }
        k.narrow(2, position, 1).copy_(new_k);
        v.narrow(2, position, 1).copy_(new_v);
        ++position;
    }
};

class Softmax final : public Mixer {
  public:
    Softmax(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : config_(config),
          heads_(config.own.read<MixerSettings>().heads),
          projections_(make_projections(maker, config, prefix, config.inner_width())) {}

    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        const Projected of{
            .x = x, .q = (*projections_.q)(x), .k = projections_.k(x), .v = projections_.v(x)};
        return projections_.out(mix(of, context));
    }

    [[nodiscard]] at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                    const MixContext& context,
                                    const BranchEnd& end) const override {
        if (!can_fuse(x)) return Mixer::add_to(x, norm, context, end);
        const Projected of = projections_.of_normed(x, norm, end.arithmetic);
        return projections_.add_out(of.x, mix(of, context), end);
    }

    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override {
        auto state = std::make_unique<SoftmaxState>();
        const int64_t width = config_.inner_width() / heads_;
        state->k =
            at::zeros({batch, heads_, kFirstCapacity, width}, projections_.k.weight.options());
        state->v = at::zeros_like(state->k);
        return state;
    }

    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override {
        auto& cache = dynamic_cast<SoftmaxState&>(state);
        const at::Tensor token = x.unsqueeze(1);  // [B, 1, d]
        cache.append(split(projections_.k(token)), split(projections_.v(token)));
        const at::Tensor heads = at::scaled_dot_product_attention(
            split((*projections_.q)(token)), cache.k.narrow(2, 0, cache.position),
            cache.v.narrow(2, 0, cache.position));
        return projections_.out(heads.transpose(1, 2).reshape({x.size(0), -1}));
    }

    // One row a head: logits Q K^T / sqrt(d/h) of the target.
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const LayerTaps& taps = request.taps;
        const int64_t T = taps.k.size(0), width = taps.k.size(1) / heads_;
        const at::Tensor q = taps.q[request.target].to(at::kDouble).view({heads_, width, 1});
        const at::Tensor k = taps.k.to(at::kDouble).view({T, heads_, width}).transpose(0, 1);
        return {.logits = at::matmul(k, q).squeeze(2) / std::sqrt(static_cast<double>(width)),
                .gate = at::ones({heads_}, at::kDouble),
                .axis = "head"};
    }

  private:
    [[nodiscard]] at::Tensor mix(const Projected& of, const MixContext& context) const {
        show(context, "q", of.q);
        show(context, "k", of.k);
        show(context, "v", of.v);
        const at::Tensor heads = at::scaled_dot_product_attention(
            split(of.q), split(of.k), split(of.v), std::nullopt, 0.0, config_.causal());
        const at::Tensor y = heads.transpose(1, 2).reshape(of.v.sizes());
        show(context, "mix", y);
        return y;
    }
    // [B, T, d] -> [B, h, T, d/h]
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const {
        return x.view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
    }

    ModelConfig config_;
    int64_t heads_;
    Projections projections_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Softmax>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    check_heads_divide(config);
    if (!config.own.read<MixerSettings>().query_gate)
        fail_usage(
            "model.query_gate=false: attention compares queries with keys; only AFT can do "
            "without");
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits;
    traits.bias = BiasLayout::attention;
    traits.heads = config.own.read<MixerSettings>().heads;
    traits.has_attention = true;
    traits.decoder = DecoderKind::streaming;
    traits.words = config.mixer;
    traits.no_bias = "Softmax attention has no position bias";
    traits.no_gate = "Softmax attention has no gate";
    traits.no_keys =
        "Softmax compares its keys with queries, so that no map exp(K) holds for every target";
    return traits;
}

}  // namespace

MixerRoom softmax_mixer() {
    return {.info = {"softmax", "Multi-head attention, the baseline."},
            .traits = traits,
            .visit = visit_settings<MixerSettings>,
            .check = check,
            .make = make};
}

}  // namespace aft
