// aft-local: a learned bias inside a window; outside it w is 0, so every source still counts.
//   Y as in aft-full with w[t,j] learned where |t-j| < s and 0 elsewhere          (paper Eq. 4, 7)
// model.outside=-inf hides the sources outside instead (the paper's ablation, section 5.3).
// Time O(T s d) + O(T d), memory O(T d). Streaming: the last s sources and the running sum of what
// left the window, O(s d) per token.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

struct LocalSettings : MixerSettings, BiasTableSettings {
    int64_t window = 0;         // |t - j| < window; 0: no bias at all
    std::string outside = "0";  // w outside the window, "0" or "-inf"
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        BiasTableSettings::visit(rows);
        rows.push_back(window_row(&window));
        rows.push_back(outside_row(&outside));
    }
    [[nodiscard]] bool hides_outside() const { return outside == "-inf"; }
};

class AftLocal final : public AftLayer, public GivenBias {
  public:
    AftLocal(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AftLayer(config, maker, prefix, config.inner_width()),
          settings_(config.own.read<LocalSettings>()) {
        if (settings_.window > 0) table_ = make_learned_bias(config, maker, prefix);
    }

    [[nodiscard]] std::optional<at::Tensor> bias(int64_t T) const override {
        const auto like = at::TensorOptions().dtype(at::kFloat);
        if (!has_bias()) return at::zeros({T, T}, like);
        const int64_t s = settings_.window;
        return table_.dense(T).triu(1 - s).tril(s - 1);
    }
    [[nodiscard]] StoredBias stored_bias(int64_t T) const override {
        return has_bias() ? table_.stored(T, settings_.window) : StoredBias{};
    }
    void set_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) override {
        table_ = given_bias(w, maker, prefix);
    }
    [[nodiscard]] ops::OperatorKind kind() const override {
        return has_bias() ? ops::OperatorKind::local : ops::OperatorKind::simple;
    }
    [[nodiscard]] ops::Inputs bias_inputs(int64_t T) const override {
        return has_bias() ? table_.inputs(T) : ops::Inputs{};
    }
    [[nodiscard]] ops::Options options(const MixContext& context) const override {
        ops::Options options = AftLayer::options(context);
        options.window = settings_.window;
        options.outside_hidden = settings_.hides_outside();
        return options;
    }

  protected:
    [[nodiscard]] StreamShape stream() const override {
        return {.history = std::min(settings_.window, config().tokens()),
                .forget = settings_.hides_outside()};
    }
    [[nodiscard]] at::Tensor stream_row(int64_t t, int64_t n) const override {
        return table_.row(t, n);
    }

  private:
    [[nodiscard]] bool has_bias() const { return settings_.window > 0; }
    LocalSettings settings_;
    LearnedBias table_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftLocal>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    check_no_heads(config);
    const auto settings = config.own.read<LocalSettings>();
    if (settings.window == 0 && settings.hides_outside())
        fail_usage(
            "model.window = 0 with model.outside=-inf leaves no source to attend to; "
            "use model.outside=0 or model.window of at least 1");
}

MixerTraits traits(const ModelConfig& config) {
    const auto settings = config.own.read<LocalSettings>();
    MixerTraits traits = aft_traits(config);
    traits.words += fmt::format(", window {}", settings.window);
    traits.decoder = DecoderKind::packed;
    traits.op = "local";
    if (settings.window == 0) {
        traits.no_bias = "aft-local with a window of 0 has no position bias";
        return traits;
    }
    traits.bias = settings.window >= config.tokens() ? BiasLayout::matrix : BiasLayout::band;
    traits.window = settings.window;
    traits.outside_hidden = settings.hides_outside();
    traits.free_rows = true;
    traits.bias_values = learned_bias_values(config);
    return traits;
}

// Inside the window as aft-full, outside it running sums (ops/cpu/band).
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    const auto settings = config.own.read<LocalSettings>();
    LayerCount count(config, shape);
    count_projections(count, config, count.n, Operands::recomputed);
    const auto window = std::min(static_cast<double>(settings.window), count.T);
    if (!settings.hides_outside()) count_running_sums(count);
    if (window > 0) {
        count_weighted_sums(count, config, visible_pairs(count.T, window, count.causal));
        count_history(count, config, window);
    } else {  // as aft-simple
        count.keep(3 * count.n * (count.causal ? std::ceil(count.T / 32) : 1));
        count.cost.state_bytes += 4 * 3 * count.n;
        if (config.output_projection) count.cost.backward_flops += 12 * count.T * count.n;
    }
    return {count.cost, "T s d", "T d"};
}

}  // namespace

MixerRoom aft_local_mixer() {
    return {.info = {"aft-local", "AFT with a learned position bias inside a window of s."},
            .traits = traits,
            .visit = visit_settings<LocalSettings>,
            .idle = idle_of_learned_bias,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
