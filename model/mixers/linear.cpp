// linear: attention with the feature map elu + 1, a baseline (Katharopoulos et al. 2020,
// "Transformers are RNNs", Eq. 4 to 7 and 16 to 20).
//   Y[t] = sum_j f(Q[t]).f(K[j]) V[j] / sum_j f(Q[t]).f(K[j]), f(x) = elu(x) + 1, per head
// over the visible j. Time O(T d^2/h), memory O(T d): the operator `linear` of model/ops.
// Streaming: S = sum f(K) [V | 1] in float64, (d/h)^2 numbers a head, O(d^2/h) per token.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

struct LinearState final : MixerState {
    explicit LinearState(const at::Tensor& start) : sums(start) {}
    at::Tensor sums;  // [B, h, d/h, d/h + 1], float64; replaced, never changed in place
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override {
        return std::make_unique<LinearState>(*this);
    }
    void select(const at::Tensor& rows) override { sums = sums.index_select(0, rows); }
};

at::Tensor features(const at::Tensor& x) {  // in float64
    return at::elu(x.to(at::kDouble)) + 1;
}

class LinearAttention final : public AttentionLayer {
  public:
    using AttentionLayer::AttentionLayer;

    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override {
        const int64_t width = config().inner_width() / heads();
        return std::make_unique<LinearState>(
            at::zeros({batch, heads(), width, width + 1}, options().dtype(at::kDouble)));
    }
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override {
        auto& linear = dynamic_cast<LinearState&>(state);
        const Heads token = project(x.unsqueeze(1));  // [B, h, 1, d/h]
        const at::Tensor v = token.v.to(at::kDouble);
        const at::Tensor v1 = at::cat({v, at::ones_like(v.narrow(3, 0, 1))}, 3);
        linear.sums = linear.sums + at::matmul(features(token.k).transpose(2, 3), v1);
        ++linear.position;
        const at::Tensor y = at::matmul(features(token.q), linear.sums);
        const int64_t width = v.size(3);
        return join((y.narrow(3, 0, width) / y.narrow(3, width, 1)).to(x.scalar_type())).squeeze(1);
    }
    // The weights are f(Q).f(K), so their logarithms are the logits.
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const LayerTaps& taps = request.taps;
        const int64_t T = taps.k.size(0);
        const at::Tensor q = features(taps.q[request.target]).view({heads(), -1, 1});
        const at::Tensor k = features(taps.k).view({T, heads(), -1}).transpose(0, 1);
        return {.logits = at::matmul(k, q).squeeze(2).log(),
                .gate = at::ones({heads()}, at::kDouble),
                .axis = "head"};
    }

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override {
        const auto flat = [](const at::Tensor& x) { return x.flatten(0, 1); };
        ops::Options options;
        options.causal = config().causal();
        return ops::apply(
                   ops::OperatorKind::linear,
                   {.q = flat(in.q), .k = flat(in.k), .v = flat(in.v), .w = {}, .u = {}, .r = {}},
                   options)
            .view_as(in.v);
    }
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<LinearAttention>(config, maker, prefix);
}

// Blocks of 64 rows and the state before them (ops/tiled/linear.cpp): plain tensor calls, so that
// autograd keeps the features on the way, the products inside a block and the state of each.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    constexpr double kRows = 64;
    LayerCount count(config, shape);
    const double T = count.T, n = count.n, h = count.h, w = count.w, sums = h * w * (w + 1);
    count_projections(count, config, n, Operands::copied);
    count.keep(T * (2 * 3.25 * n + 2 * (n + h)));  // features with a mask of bytes; [v | 1], sums
    if (count.causal) {
        const double rows = std::min(kRows, T), blocks = std::ceil(T / kRows);
        count.product(T * (rows * h * (2 * w + 1) + 2 * sums));
        count.keep(T * rows * h + (blocks - 1) * sums);
    } else {
        count.product(2 * T * sums);
        count.keep(sums);
    }
    count.cost.decode_flops += 2 * 2 * sums;
    count.cost.state_bytes = 8 * sums;  // float64
    return {count.cost, "T d^2", "T d + d^2"};
}

}  // namespace

MixerRoom linear_mixer() {
    return {.info = {"linear", "Attention with the feature map elu + 1, a baseline."},
            .traits = attention_traits,
            .visit = visit_settings<MixerSettings>,
            .check = check_attention,
            .make = make,
            .cost = cost};
}

}  // namespace aft
