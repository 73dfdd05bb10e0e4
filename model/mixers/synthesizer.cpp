// synthesizer: attention whose weights are predicted from the target alone, a baseline (Tay et al.
// 2021, "Synthesizer: Rethinking Self-Attention", the dense one, Eq. 1 and 2).
//   B[t] = W2 relu(W1 x[t] + b1) + b2, one number for every position; Y[t] = sum_j
//   softmax_j(B[t,j]) V[j] over the visible j, per head
// W1 is d x d; of what comes out every head takes its d/h numbers, its W2 is T x d/h. No key and no
// query: what other tokens are changes V only. Time O(T^2 d), memory O(T d) through LibTorch's
// fused kernel. Streaming: the cache of V, O(t d) per token.
#include <ATen/ATen.h>

#include <cmath>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/attention.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

struct ValueCache final : MixerState {
    TokenRows v;
    explicit ValueCache(TokenRows rows) : v(std::move(rows)) {}
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override {
        auto copy = std::make_unique<ValueCache>(*this);
        copy->v = v.clone();
        return copy;
    }
    void select(const at::Tensor& rows) override { v.select(rows); }
};

class Synthesizer final : public Mixer {
  public:
    Synthesizer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : config_(config),
          heads_(config.own.read<MixerSettings>().heads),
          inside_(make_inner_map(maker, config, prefix + "inner", config.inner_width())),
          v_(make_inner_map(maker, config, prefix + "v", config.inner_width())) {
        const int64_t T = config.tokens(), width = config.inner_width() / heads_;
        const double std =
            config.init == "normal" ? 0.02 : 1 / std::sqrt(static_cast<double>(width));
        logits_ = maker.normal(prefix + "logits.weight", {heads_, T, width}, std,
                               ParameterGroup::linear_weight);
        logits_bias_ = maker.constant(prefix + "logits.bias", {heads_, T}, 0, ParameterGroup::bias);
        o_ = make_output_map(maker, config, prefix);
    }

    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        const int64_t T = x.size(1);
        check_length(T);
        const at::Tensor inside = at::relu(inside_(x)), v = v_(x);
        show(context, "q", inside);
        show(context, "v", v);
        // The bias of the logits as one more channel of both; v gets one of zeros.
        const at::Tensor q = split(inside), values = split(v);
        const at::Tensor ones = at::ones_like(q.narrow(3, 0, 1));
        const at::Tensor table =
            at::cat({logits_.narrow(1, 0, T), logits_bias_.narrow(1, 0, T).unsqueeze(2)}, 2)
                .unsqueeze(0)
                .expand({x.size(0), -1, -1, -1});
        const at::Tensor y = nn::fused_attention(at::cat({q, ones}, 3), table,
                                                 at::cat({values, at::zeros_like(ones)}, 3),
                                                 {.causal = config_.causal(), .scale = 1.0})
                                 .narrow(3, 0, values.size(3));
        const at::Tensor mixed = y.transpose(1, 2).reshape(v.sizes());
        show(context, "mix", mixed);
        return out(mixed);
    }

    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override {
        const int64_t width = config_.inner_width() / heads_;
        return std::make_unique<ValueCache>(TokenRows(batch, heads_, width, logits_.options()));
    }
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override {
        auto& cache = dynamic_cast<ValueCache&>(state);
        const int64_t n = cache.position + 1;
        check_length(n);
        const at::Tensor token = x.unsqueeze(1);
        cache.v.append(split(v_(token)), cache.position);
        cache.position = n;
        const at::Tensor shares = logits(split(at::relu(inside_(token))), n).softmax(3);
        return out(at::matmul(shares, cache.v.first(n)).transpose(1, 2).flatten(1));
    }

    // q of the taps is relu(W1 x + b1).
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const at::Tensor inside = request.taps.q[request.target].view({1, 1, -1});
        const at::Tensor rows =
            logits(split(inside.to(logits_.options().requires_grad(false))), request.taps.tokens());
        return {.logits = rows.detach().view({heads_, -1}).to(at::kCPU, at::kDouble),
                .gate = at::ones({heads_}, at::kDouble),
                .axis = "head"};
    }

  private:
    // inside [B, h, n, d/h] -> [B, h, n, T]
    [[nodiscard]] at::Tensor logits(const at::Tensor& inside, int64_t T) const {
        const at::Tensor rows = logits_.narrow(1, 0, T).transpose(1, 2);
        return nn::batched_product(inside, rows.expand({inside.size(0), -1, -1, -1})) +
               logits_bias_.narrow(1, 0, T).unsqueeze(1);
    }
    void check_length(int64_t T) const {
        if (T > logits_.size(1))
            fail_usage("the sequence has {} tokens, the weights of the model are for {} only", T,
                       logits_.size(1));
    }
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const {
        return x.view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
    }
    [[nodiscard]] at::Tensor out(const at::Tensor& y) const { return o_ ? (*o_)(y) : y; }

    ModelConfig config_;
    int64_t heads_;
    Linear inside_, v_;
    at::Tensor logits_, logits_bias_;  // [h, T, d/h], [h, T]
    std::optional<Linear> o_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Synthesizer>(config, maker, prefix);
}

// LibTorch's fused kernel with one channel more, which brings the bias of the logits.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const double T = count.T, d = count.d, n = count.n, h = count.h;
    count.map(d, n, config.qkv_bias);  // inner
    count.map(d, n, config.qkv_bias);  // v
    count_output_map(count, config);
    count.cost.parameters += T * (n + h);
    count.product(2 * (n + h) * visible_pairs(T, T, count.causal), 2.5);
    // x, its norm, relu; of the kernel four operands and the sums of rows.
    count.keep(T * (2 * d + 2 + n + 4 * (n + h) + h));
    count.cost.decode_flops += 4 * n * T;
    count.cost.state_bytes = 4 * n * T;  // V
    return {count.cost, "T^2 d", "T^2 + T d"};
}

}  // namespace

MixerRoom synthesizer_mixer() {
    return {.info = {"synthesizer", "Attention weights predicted from the target, a baseline."},
            .traits = attention_traits,
            .visit = visit_settings<MixerSettings>,
            .check = check_attention,
            .make = make,
            .cost = cost};
}

}  // namespace aft
