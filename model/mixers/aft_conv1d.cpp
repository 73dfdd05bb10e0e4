// aft-conv1d: a bias that depends on the offset only, one kernel per head.
//   Y[t,c] = sigmoid(Q[t,c]) * sum_j exp(K[j,i] + w_i[j-t]) V[j,c] / sum_j exp(K[j,i] + w_i[j-t])
// for channels c of head i, w_i = 0 outside the s taps (paper Eq. 6 in the form of its definition),
// w_i = gamma_i (k_i - mean k_i) / std k_i + beta_i (Eq. 8). Causal: the last tap is the token
// itself; else tap s/2 is. Time O(T s d), memory O(T d). Streaming: the last s sources and the
// running sum of all older ones. model.outside=-inf hides what is outside the kernel (section 5.3).
#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

class AftConv1d final : public AftLayer, public GivenBias {
  public:
    AftConv1d(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AftLayer(config, maker, prefix, config.own.read<ConvSettings>().heads),
          settings_(config.own.read<ConvSettings>()),
          kernel_(make_kernel(config, maker, prefix, {settings_.heads, settings_.window})) {}
    [[nodiscard]] std::optional<at::Tensor> bias(int64_t) const override {
        return kernel_.effective().detach();
    }
    void set_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) override {
        kernel_ = given_kernel(w, maker, prefix);
    }
    [[nodiscard]] ops::OperatorKind kind() const override { return ops::OperatorKind::conv1d; }
    [[nodiscard]] ops::Inputs bias_inputs(int64_t T) const override {
        return bias_inputs_in(T, {});
    }
    [[nodiscard]] ops::Inputs bias_inputs_in(int64_t, const MixContext& context) const override {
        ops::Inputs in;
        in.w = kernel_.effective(context);
        return in;
    }
    [[nodiscard]] at::Tensor penalty() const override { return kernel_penalty(kernel_, settings_); }
    [[nodiscard]] ops::Options options(const MixContext& context) const override {
        ops::Options options = AftLayer::options(context);
        options.outside_hidden = settings_.hides_outside();
        return options;
    }

  protected:
    [[nodiscard]] StreamShape stream() const override {
        return {.groups = settings_.heads,
                .history = settings_.window,
                .forget = settings_.hides_outside()};
    }
    [[nodiscard]] at::Tensor stream_row(int64_t, int64_t n) const override {
        return kernel_.effective().narrow(1, settings_.window - n, n);
    }

  private:
    ConvSettings settings_;
    Kernel kernel_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftConv1d>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    check_heads_divide(config);
    const int64_t window = config.own.read<ConvSettings>().window;
    if (window < 1)
        fail_usage("model.window = {}: the kernel of aft-conv1d has at least 1 tap", window);
    if (!config.causal() && window % 2 == 0)
        fail_usage("model.window = {}: aft-conv1d needs an odd kernel unless it is causal", window);
    if (config.prefix_tokens() > 0)
        fail_usage(
            "model.class_token=true: aft-conv1d has no place for a class token; "
            "use false (mean pool)");
}

// Taps times exp(K) V and exp(K) (ops/cpu/conv); with model.outside=-inf the blocks of ops/tiled
// compute more pairs than the taps that are counted here.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const auto taps = static_cast<double>(config.own.read<ConvSettings>().window);
    const double window = count.causal ? taps : (taps + 1) / 2;
    count_kernel(count, config,
                 {.values = taps,
                  .pairs = visible_pairs(count.T, window, count.causal),
                  .history = std::min(taps, count.T)});
    return {count.cost, "T s d", "T d"};
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = kernel_traits(config, BiasLayout::kernel_1d);
    traits.op = "conv1d";
    return traits;
}

}  // namespace

MixerRoom aft_conv1d_mixer() {
    return {.info = {"aft-conv1d", "AFT with one bias kernel per head over offsets in a sequence."},
            .traits = traits,
            .visit = visit_settings<ConvSettings>,
            .idle = idle_of_kernel,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
