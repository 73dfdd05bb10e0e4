// local-softmax: multi-head attention inside a hard window, a baseline (Liu et al. 2018,
// "Generating Wikipedia by summarizing long sequences", section 4.2.4, with a sliding window; the
// local Transformers that section 3.2 of Zhai et al. 2021 tells AFT-local from).
//   Y[t] = sum_j softmax_j(Q[t] K[j] / sqrt(d/h)) V[j] over the visible j with |t - j| < s, per
//   head
// Time O(T s d), memory O(T d) and T s bits. Streaming: the cache of K and V.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

struct LocalSoftmaxSettings : MixerSettings {
    int64_t window = 0;  // |t - j| < window
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        rows.push_back(window_row(&window));
    }
};

class LocalSoftmax final : public SparseAttention {
  public:
    LocalSoftmax(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : SparseAttention(config, maker, prefix),
          window_(config.own.read<LocalSoftmaxSettings>().window) {}

  protected:
    [[nodiscard]] BlockPlan plan(int64_t T) const override {
        constexpr int64_t kLeast = 64;  // targets of a block
        const int64_t reach = std::min(window_, T) - 1, rows = std::min(T, std::max(reach, kLeast));
        const int64_t n = (T + rows - 1) / rows;
        const at::Tensor first = at::arange(n, at::kLong).mul(rows).view({n, 1, 1});
        const at::Tensor t = first + at::arange(rows, at::kLong).view({1, rows, 1});
        const int64_t ahead = config().causal() ? 0 : reach;
        const at::Tensor j = first + at::arange(-reach, rows + ahead, at::kLong).view({1, 1, -1});
        at::Tensor visible =
            (t - j).abs().lt(window_).logical_and(j >= 0).logical_and(j < T).logical_and(t < T);
        if (config().causal()) visible = visible.logical_and(j <= t);
        return {.targets = t.squeeze(2).clamp_max(T - 1),
                .sources = j.squeeze(1).clamp(0, T - 1),
                .visible = visible};
    }
    [[nodiscard]] at::Tensor hidden(int64_t t, int64_t T) const override {
        return (at::arange(T, at::kLong) - t).abs() >= window_;
    }

  private:
    int64_t window_;
};

void check(const ModelConfig& config) {
    check_attention(config);
    const int64_t window = config.own.read<LocalSoftmaxSettings>().window;
    if (window < 1)
        fail_usage("model.window = {}: local-softmax needs a window of at least 1", window);
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    traits.window = config.own.read<LocalSoftmaxSettings>().window;
    traits.outside_hidden = true;
    traits.words += fmt::format(", window {}", traits.window);
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<LocalSoftmax>(config, maker, prefix);
}

// Blocks of at least 64 targets with all sources of their windows, masked: plan().
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const auto setting = static_cast<double>(config.own.read<LocalSoftmaxSettings>().window);
    const double window = std::min(setting, count.T), reach = window - 1;
    const double rows = std::min(count.T, std::max(reach, 64.0));
    count_block_attention(count, config,
                          {.blocks = std::ceil(count.T / rows),
                           .targets = rows,
                           .sources = rows + reach * (count.causal ? 1 : 2),
                           .seen = window});
    return {count.cost, "T s d", "T s + T d"};
}

}  // namespace

MixerRoom local_softmax_mixer() {
    return {.info = {"local-softmax", "Attention inside a window, a baseline."},
            .traits = traits,
            .visit = visit_settings<LocalSoftmaxSettings>,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
