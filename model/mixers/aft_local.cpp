// aft-local: a learned bias inside a window; outside it w is 0, so every source still counts.
//   Y as in aft-full with w[t,j] learned where |t-j| < s and 0 elsewhere          (paper Eq. 4, 7)
// model.outside=-inf hides the sources outside instead (the paper's ablation, section 5.3).
// Time O(T s d) + O(T d), memory O(T d). Streaming: the last s sources and the running sum of what
// left the window, O(s d) per token.
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/aft_layer.h"

namespace aft {

namespace {

class AftLocal final : public AftLayer {
  public:
    AftLocal(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AftLayer(config, maker, prefix, config.dim) {
        if (config.window > 0) table_ = make_bias_table(config, maker, prefix);
    }

    [[nodiscard]] std::optional<at::Tensor> bias(int64_t T) const override {
        const auto like = at::TensorOptions().dtype(at::kFloat);
        if (!has_bias()) return at::zeros({T, T}, like);
        const int64_t s = config().window;
        return table_.dense(T).triu(1 - s).tril(s - 1);
    }
    [[nodiscard]] ops::Kind kind() const override {
        return has_bias() ? ops::Kind::local : ops::Kind::simple;
    }
    [[nodiscard]] ops::Inputs bias_inputs(int64_t T) const override {
        return has_bias() ? table_.inputs(T) : ops::Inputs{};
    }
    [[nodiscard]] ops::Options options(const MixContext& context) const override {
        ops::Options options = AftLayer::options(context);
        options.window = config().window;
        options.outside_hidden = config().outside == "-inf";
        return options;
    }

  protected:
    [[nodiscard]] StreamShape stream() const override {
        return {.history = std::min(config().window, config().tokens()),
                .forget = config().outside == "-inf"};
    }
    [[nodiscard]] at::Tensor stream_row(int64_t t, int64_t n) const override {
        return table_.row(t, n);
    }

  private:
    [[nodiscard]] bool has_bias() const { return config().window > 0; }
    BiasTable table_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftLocal>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    check_no_heads(config);
    if (config.window == 0 && config.outside == "-inf")
        fail_usage(
            "model.window = 0 with model.outside=-inf leaves no source to listen to; "
            "use model.outside=0 or model.window of at least 1");
}

}  // namespace

MixerRoom aft_local_mixer() {
    return {.info = {"aft-local", "AFT with a learned position bias inside a window of s."},
            .check = check,
            .make = make};
}

}  // namespace aft
