// aft-full: a learned bias for every pair of positions.
//   Y[t,c] = sigmoid(Q[t,c]) * sum_j exp(K[j,c] + w[t,j]) V[j,c] / sum_j exp(K[j,c] + w[t,j])
// (paper Eq. 2), w [T, T] learned itself or as u r^T with u, r in [T, d'] (Eq. 7).
// Time O(T^2 d), memory O(T d). Streaming: all K and V are kept, O(t d) per token; the float64
// scaling of stream.h.
#include "model/mixers/aft_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

class AftFull final : public AftLayer, public GivenBias {
  public:
    AftFull(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AftLayer(config, maker, prefix, config.inner_width()),
          table_(make_learned_bias(config, maker, prefix)) {}
    [[nodiscard]] std::optional<at::Tensor> bias(int64_t T) const override {
        return table_.dense(T);
    }
    [[nodiscard]] StoredBias stored_bias(int64_t T) const override { return table_.stored(T, 0); }
    void set_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) override {
        table_ = given_bias(w, maker, prefix);
    }
    [[nodiscard]] ops::OperatorKind kind() const override { return ops::OperatorKind::full; }
    [[nodiscard]] ops::Inputs bias_inputs(int64_t T) const override { return table_.inputs(T); }

  protected:
    [[nodiscard]] StreamShape stream() const override { return {.growing = true}; }
    [[nodiscard]] at::Tensor stream_row(int64_t t, int64_t n) const override {
        return table_.row(t, n);
    }

  private:
    LearnedBias table_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftFull>(config, maker, prefix);
}

struct FullSettings : MixerSettings, BiasTableSettings {
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        BiasTableSettings::visit(rows);
    }
};

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = aft_traits(config);
    traits.op = "full";
    traits.bias = BiasLayout::matrix;
    traits.free_rows = true;
    traits.bias_values = learned_bias_values(config);
    traits.decoder = DecoderKind::packed;
    return traits;
}

// exp(w) tile by tile times panels of exp(K) V and exp(K) (ops/cpu/band).
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    count_projections(count, config, count.n, Operands::recomputed);
    count_weighted_sums(count, config, visible_pairs(count.T, count.T, count.causal));
    count_history(count, config, count.T);
    return {count.cost, "T^2 d", "T d"};
}

}  // namespace

MixerRoom aft_full_mixer() {
    return {.info = {"aft-full", "AFT with a learned position bias for every pair of positions."},
            .traits = traits,
            .visit = visit_settings<FullSettings>,
            .idle = idle_of_learned_bias,
            .check = check_no_heads,
            .make = make,
            .cost = cost};
}

}  // namespace aft
