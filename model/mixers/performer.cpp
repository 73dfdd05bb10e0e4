// performer: softmax attention by positive random features, a baseline (Choromanski et al. 2021,
// "Rethinking Attention with Performers": FAVOR+, Lemma 1 and section 2.4, orthogonal features).
//   Y[t] = sum_j f(Q[t]).f(K[j]) V[j] / sum_j f(Q[t]).f(K[j]), per head, over the visible j
//   f(x)_i = exp(w_i.x' - |x'|^2 / 2) / sqrt(m), x' = x (d/h)^(-1/4), i = 1 ... m
// w_i are normal vectors, orthogonal within blocks of d/h; E f(q).f(k) = exp(q.k / sqrt(d/h)). They
// are drawn from the model's seed, one set a layer, and kept in the checkpoint (mixer.features).
// Numerics: features by their logarithms; queries relative to their largest one, keys to the
// largest so far, in float64 where a sum might have lost something. Rows go in blocks, the blocks
// before them are one state. Time O(T m d), memory O(T m h). Streaming: the state, m (d/h + 1)
// numbers a head.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

constexpr int64_t kRows = 64;
constexpr double kLeastSum = 0x1p-60;

struct PerformerSettings : MixerSettings {
    int64_t features = 256;
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        rows.push_back(number_row("model.features", &features,
                                  "performer: random features m of a head; more come nearer to "
                                  "softmax.",
                                  {1, 65536}));
    }
};

// Rows orthogonal within blocks of their width, lengths kept: Gram and Schmidt in float64.
void make_orthogonal(const at::Tensor& rows) {
    const at::Tensor out = rows.detach();
    const int64_t width = out.size(1);
    for (int64_t first = 0; first < out.size(0); first += width) {
        const int64_t n = std::min(width, out.size(0) - first);
        const at::Tensor block = out.narrow(0, first, n).to(at::kDouble);
        at::Tensor q = block.clone();
        for (int64_t i = 0; i < n; ++i) {
            at::Tensor row = q[i];
            for (int twice = 0; twice < 2 && i > 0; ++twice) {
                const at::Tensor before = q.narrow(0, 0, i);
                row.sub_(at::mv(before.t(), at::mv(before, row)));
            }
            row.div_(row.norm());
        }
        out.narrow(0, first, n).copy_(q * block.norm(2, {1}, true));
    }
}

struct FeatureSums {
    at::Tensor values;  // [B, h, m, d/h + 1]: sum of f(k) [v | 1], by exp(-top)
    at::Tensor top;     // [B, h, 1, 1]
};

// Takes keys [B, h, n, m] (logarithms) and [v | 1] into the sums.
void take(FeatureSums& sums, const at::Tensor& keys, const at::Tensor& v1) {
    at::Tensor top = keys.detach().amax({2, 3}, true);
    if (sums.top.defined()) top = at::maximum(top, sums.top);
    const at::Tensor block = nn::batched_product((keys - top).exp().transpose(2, 3), v1);
    sums.values = sums.values.defined() ? sums.values * (sums.top - top).exp() + block : block;
    sums.top = top;
}

struct PerformerState final : MixerState {
    // float64; undefined before the first token; replaced, never changed in place.
    FeatureSums sums;
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override {
        return std::make_unique<PerformerState>(*this);
    }
    void select(const at::Tensor& rows) override {
        if (!sums.top.defined()) return;
        sums = {sums.values.index_select(0, rows), sums.top.index_select(0, rows)};
    }
};

at::Tensor with_one(const at::Tensor& v) {
    return at::cat({v, at::ones_like(v.narrow(3, 0, 1))}, 3);
}

// Logarithms of features q, k [B, h, T, m] and v [B, h, T, c] -> [B, h, T, c + 1], the last the
// denominators, each row by a factor of its own.
at::Tensor causal_sums(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v1) {
    const int64_t T = q.size(2);
    std::vector<at::Tensor> out;
    FeatureSums before;
    for (int64_t t = 0; t < T; t += kRows) {
        const int64_t rows = std::min(kRows, T - t);
        const at::Tensor qi = q.narrow(2, t, rows), ki = k.narrow(2, t, rows);
        const at::Tensor vi = v1.narrow(2, t, rows);
        FeatureSums next = before;
        take(next, ki, vi);
        const at::Tensor inside =
            nn::batched_product(qi, (ki - next.top).exp().transpose(2, 3)).tril();
        at::Tensor sum = nn::batched_product(inside, vi);
        if (before.top.defined())
            sum = sum + nn::batched_product(qi, before.values * (before.top - next.top).exp());
        out.push_back(sum);
        before = next;
    }
    return at::cat(out, 2);
}

class Performer final : public AttentionLayer {
  public:
    Performer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AttentionLayer(config, maker, prefix) {
        const auto settings = config.own.read<PerformerSettings>();
        directions_ = maker.normal(prefix + "features",
                                   {settings.features, config.inner_width() / settings.heads}, 1,
                                   ParameterGroup::fixed);
        if (!directions_.is_meta()) make_orthogonal(directions_);
    }

    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t) const override {
        return std::make_unique<PerformerState>();
    }
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override {
        auto& performer = dynamic_cast<PerformerState&>(state);
        const Heads token = project(x.unsqueeze(1));  // [B, h, 1, d/h]
        take(performer.sums, features(token.k.to(at::kDouble)), with_one(token.v.to(at::kDouble)));
        ++performer.position;
        const at::Tensor q = features(token.q.to(at::kDouble));
        const at::Tensor sums = at::matmul((q - q.amax(3, true)).exp(), performer.sums.values);
        return join(mean(sums).to(x.scalar_type())).squeeze(1);
    }
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const LayerTaps& taps = request.taps;
        const int64_t T = taps.k.size(0);
        const at::Tensor q =
            features(taps.q[request.target].to(at::kDouble).view({heads(), 1, -1}));
        const at::Tensor k =
            features(taps.k.to(at::kDouble).view({T, heads(), -1}).transpose(0, 1));
        return {.logits = (q + k).logsumexp(2),
                .gate = at::ones({heads()}, at::kDouble),
                .axis = "head"};
    }

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override {
        const at::Tensor sums = sums_of(in);
        const int64_t width = in.v.size(3);
        const bool safe = sums.detach().narrow(3, width, 1).amin().item<double>() >= kLeastSum;
        if (safe || in.v.scalar_type() == at::kDouble) return mean(sums);
        const Heads wide{
            .q = in.q.to(at::kDouble), .k = in.k.to(at::kDouble), .v = in.v.to(at::kDouble)};
        return mean(sums_of(wide)).to(in.v.scalar_type());
    }

  private:
    [[nodiscard]] at::Tensor sums_of(const Heads& in) const {
        const at::Tensor logs = features(in.q), k = features(in.k), v1 = with_one(in.v);
        const at::Tensor q = (logs - logs.detach().amax(3, true)).exp();
        if (config().causal()) return causal_sums(q, k, v1);
        FeatureSums all;
        take(all, k, v1);
        return nn::batched_product(q, all.values);
    }
    // log f(x) sqrt(m), [..., d/h] -> [..., m]
    [[nodiscard]] at::Tensor features(const at::Tensor& x) const {
        const at::Tensor scaled = x * std::pow(static_cast<double>(x.size(-1)), -0.25);
        return at::matmul(scaled, directions_.to(x.scalar_type()).t()) -
               scaled.square().sum(-1, true) / 2;
    }
    // A sum of nothing but underflow gives 0 instead of no number.
    [[nodiscard]] static at::Tensor mean(const at::Tensor& sums) {
        const int64_t width = sums.size(3) - 1;
        const double least = sums.scalar_type() == at::kDouble ? std::numeric_limits<double>::min()
                                                               : std::numeric_limits<float>::min();
        return sums.narrow(3, 0, width) / sums.narrow(3, width, 1).clamp_min(least);
    }

    at::Tensor directions_;  // [m, d/h]
};

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    traits.words += fmt::format(", {} features", config.own.read<PerformerSettings>().features);
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Performer>(config, maker, prefix);
}

// Features by their logarithms, then blocks of 64 rows and the state before them, plain tensor
// calls; exp of the keys is formed for the state and again inside the block. The directions are not
// trained. Orders with m = d log d features, as the paper takes them.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const auto m = static_cast<double>(config.own.read<PerformerSettings>().features);
    const double T = count.T, n = count.n, h = count.h, w = count.w, sums = h * m * (w + 1);
    count_projections(count, config, n, Operands::copied);
    count.cost.parameters += m * w;
    count.product(2 * T * m * n, 1);
    count.keep(2 * T * n + 2 * T * (n + h) + T * h);  // scaled q, k; [v | 1], sums; denominators
    if (count.causal) {
        const double rows = std::min(static_cast<double>(kRows), T);
        count.product(T * (rows * h * (m + w + 1) + 2 * sums));
        count.keep(3 * T * m * h + T * rows * h);
        count.keep((std::ceil(T / static_cast<double>(kRows)) - 1) * sums);
    } else {
        count.product(2 * T * sums);
        count.keep(2 * T * m * h + sums);
    }
    count.cost.decode_flops += 2 * (2 * m * n + 2 * sums);
    count.cost.state_bytes = 8 * (sums + h);  // float64
    return {count.cost, "T d^2 log d", "T d log d + d^2 log d"};
}

}  // namespace

MixerRoom performer_mixer() {
    return {.info = {"performer", "Softmax attention by positive random features, a baseline."},
            .traits = traits,
            .visit = visit_settings<PerformerSettings>,
            .check = check_attention,
            .make = make,
            .cost = cost};
}

}  // namespace aft
