// aft-local by tensor calls: the mixer of the peer net in the benchmark's training rows. Its best
// plain form: one exponential of w and one product of all channels a layer.
//   E[t,j] = exp(w[t,j]) where |t-j| < s, 1 elsewhere, 0 for j > t
//   Y = sigmoid(Q) * (E (exp(K) V)) / (E exp(K))                 (Zhai et al. 2021, Eq. 2 and 4)
// The maximum of K over the sequence is taken out (it cancels). Time O(T^2 d), memory O(T^2).
#include "bench/workloads/einsum_mixer.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "model/mixers/find.h"
#include "model/nn/fused.h"

namespace aft::bench {

namespace {

// Traits of the mixer that this one replaces.
MixerTraits local_traits(ModelConfig config) {
    config.mixer = "aft-local";
    return mixer_traits(config);
}

class Einsum final : public Mixer {
  public:
    Einsum(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : config_(config),
          window_(local_traits(config).window),
          projections_(make_projections(maker, config, prefix, config.dim)) {
        table_ = make_learned_bias(config, maker, prefix);
    }
    [[nodiscard]] at::Tensor forward(const at::Tensor& x, const MixContext&) const override {
        const Projected of{
            .x = x, .q = (*projections_.q)(x), .k = projections_.k(x), .v = projections_.v(x)};
        return projections_.out(mix(of));
    }
    // As in the other rooms: the passes around the mixer are not what a training row compares.
    [[nodiscard]] at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                    const MixContext& context,
                                    const BranchEnd& end) const override {
        if (!can_fuse(x)) return Mixer::add_to(x, norm, context, end);
        const Projected of = projections_.of_normed(x, norm, end.arithmetic);
        return projections_.add_out(of.x, mix(of), end);
    }
    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t) const override {
        fail("aft-local by einsum is for training rows of the benchmark: it does not decode");
    }
    [[nodiscard]] at::Tensor step(const at::Tensor&, MixerState&) const override {
        fail("aft-local by einsum is for training rows of the benchmark: it does not decode");
    }
    [[nodiscard]] StoredBias stored_bias(int64_t T) const override {
        return table_.stored(T, window_);
    }

  private:
    [[nodiscard]] at::Tensor mix(const Projected& of) const {
        const int64_t B = of.v.size(0), T = of.v.size(1), d = of.v.size(2);
        const at::Tensor e = (of.k - std::get<0>(of.k.max(1, true)).detach()).exp();
        const at::Tensor both = at::cat({(e * of.v).transpose(0, 1), e.transpose(0, 1)}, 2);
        const at::Tensor sums =
            at::mm(weights(T), both.reshape({T, B * 2 * d})).view({T, B, 2 * d});
        const at::Tensor mean = sums.narrow(2, 0, d) / sums.narrow(2, d, d);
        return at::sigmoid(of.q) * mean.transpose(0, 1);
    }
    [[nodiscard]] at::Tensor weights(int64_t T) const {  // [T, T]
        const ops::Inputs in = table_.inputs(T);
        const at::Tensor w = in.w.defined() ? in.w : at::mm(in.u, in.r.t());
        const int64_t s = window_;
        const at::Tensor past = w.triu(1 - s);
        return config_.causal() ? past.exp().tril() : past.tril(s - 1).exp();
    }

    ModelConfig config_;
    int64_t window_;
    Projections projections_;
    LearnedBias table_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Einsum>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    const MixerTraits local = local_traits(config);
    if (local.window < 1 || !local.has_gate || local.outside_hidden)
        fail("aft-local by einsum needs a window, a query gate and w = 0 outside");
}

}  // namespace

void add_einsum_mixer() {
    static const bool added = [] {
        add_mixer({.info = {kEinsumMixer, "aft-local by tensor calls."},
                   .traits =
                       [](const ModelConfig& config) {
                           MixerTraits traits = local_traits(config);
                           traits.decoder = DecoderKind::prefix;
                           return traits;
                       },
                   .visit = find_mixer("aft-local").visit,
                   .check = check,
                   .make = make,
                   .is_hidden = true});
        return true;
    }();
    static_cast<void>(added);
}

}  // namespace aft::bench
