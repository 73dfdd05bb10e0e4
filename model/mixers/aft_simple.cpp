// aft-simple: no position bias.
//   Y[t,c] = sigmoid(Q[t,c]) * sum_j exp(K[j,c]) V[j,c] / sum_j exp(K[j,c])       (paper Eq. 5)
// Time and memory O(T d). Streaming: running (m, N, D) with a running maximum, O(d) per token.
#include <cmath>

#include "model/mixers/aft_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

class AftSimple final : public AftLayer {
  public:
    using AftLayer::AftLayer;
    [[nodiscard]] ops::OperatorKind kind() const override { return ops::OperatorKind::simple; }
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftSimple>(config, maker, prefix, config.inner_width());
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = aft_traits(config);
    traits.op = "simple";
    traits.no_bias = "aft-simple has no position bias: every source counts by its key";
    traits.decoder = DecoderKind::packed;
    return traits;
}

MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    count_projections(count, config, count.n, Operands::recomputed);
    count_running_sums(count);
    if (config.output_projection) count.cost.backward_flops += 12 * count.T * count.n;  // Y again
    // (m, N, D) before every 32 rows for the gradient (ops/cpu/scan), and of the decoder.
    count.keep(3 * count.n * (count.causal ? std::ceil(count.T / 32) : 1));
    count.cost.state_bytes = 4 * 3 * count.n;
    return {count.cost, "T d", "T d"};
}

}  // namespace

MixerRoom aft_simple_mixer() {
    return {.info = {"aft-simple", "AFT without position bias: every source counts by its key."},
            .traits = traits,
            .visit = visit_settings<MixerSettings>,
            .check = check_no_heads,
            .make = make,
            .cost = cost};
}

}  // namespace aft
