// What the AFT rooms share: projections, one call of the operator, streaming. A room adds its
// position bias.
#pragma once
#include "model/mixers/projections.h"
#include "model/mixers/settings.h"
#include "model/mixers/stream.h"

namespace aft {

// What an AFT room says of itself before it adds its bias: gate, key maps, attention rows.
[[nodiscard]] MixerTraits aft_traits(const ModelConfig& config);

class AftLayer : public Mixer {
  public:
    // key_channels: d, or h where a head shares its key
    AftLayer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix,
             int64_t key_channels);
    [[nodiscard]] at::Tensor forward(const at::Tensor& x, const MixContext& context) const override;
    [[nodiscard]] at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                    const MixContext& context, const BranchEnd& end) const override;
    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override;
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override;
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override;
    [[nodiscard]] at::Tensor key_maps(const LayerTaps& taps) const override;
    [[nodiscard]] at::Tensor gates(const LayerTaps& taps) const override;

    // The operator of this layer: kind, w or u and r (q, k, v left undefined), options.
    [[nodiscard]] virtual ops::OperatorKind kind() const = 0;
    [[nodiscard]] virtual ops::Inputs bias_inputs(int64_t) const { return {}; }
    // The same for one pass: what training draws is in it.
    [[nodiscard]] virtual ops::Inputs bias_inputs_in(int64_t T, const MixContext&) const {
        return bias_inputs(T);
    }
    [[nodiscard]] virtual ops::Options options(const MixContext& context) const;

  protected:
    // How the room streams: history, growing and forget; the rest is filled in.
    [[nodiscard]] virtual StreamShape stream() const { return {}; }
    // w [groups, n] of the sources t-n+1 .. t for target t.
    [[nodiscard]] virtual at::Tensor stream_row(int64_t t, int64_t n) const;
    [[nodiscard]] const ModelConfig& config() const { return config_; }

  private:
    [[nodiscard]] ops::Inputs inputs(const Projected& of, const MixContext& context) const;
    // The operator on projected q, k, v.
    [[nodiscard]] at::Tensor mix(const Projected& of, const MixContext& context) const;
    ModelConfig config_;
    Projections projections_;
};

// w [T, T] or its factors u, r [T, d'], for T tokens at most: aft-full and aft-local.
struct LearnedBias {
    at::Tensor w, u, r;
    [[nodiscard]] StoredBias stored(int64_t T, int64_t window) const;
    [[nodiscard]] ops::Inputs inputs(int64_t T) const;  // usage Error if T is too long
    [[nodiscard]] at::Tensor dense(int64_t T) const;    // [T, T], detached
    // [1, n], float64: sources t-n+1 .. t
    [[nodiscard]] at::Tensor row(int64_t t, int64_t n) const;
};
[[nodiscard]] LearnedBias make_learned_bias(const ModelConfig& config, ParameterMaker& maker,
                                            const std::string& prefix);
// w [T, T] in place of what was learned.
[[nodiscard]] LearnedBias given_bias(const at::Tensor& w, ParameterMaker& maker,
                                     const std::string& prefix);
[[nodiscard]] double learned_bias_values(const ModelConfig& config);
// The deviation of what is not learned: of w where there are factors, else of u and r.
[[nodiscard]] std::vector<IdleSetting> idle_of_learned_bias(const ModelConfig& config);

// Kernels of the conv rooms: w = gamma (k - mean k) / std k + beta per head (Eq. 8), or k itself.
// With a temperature (Eq. 10) w is multiplied by a one-hot vector at its largest value, and in
// training by a sample of its Gumbel-softmax instead (Jang et al. 2017, Eq. 2), one for each head.
struct Kernel {
    at::Tensor k, gamma, beta;  // [h, s] or [h, s, s]; [h]; [h] (undefined: naive)
    double gumbel_tau = 0;      // 0 = w as it is
    // Shape of k, differentiable. context: what training draws; of the layer's place and the seed.
    [[nodiscard]] at::Tensor effective(const MixContext& context = {}) const;
    // sum over the heads of the entropy of softmax(w) in nats (Eq. 9), without the Gumbel-softmax;
    // scalar, differentiable.
    [[nodiscard]] at::Tensor entropy() const;

  private:
    [[nodiscard]] at::Tensor weights() const;  // [h, s^n], Eq. 8
};
// weight * entropy; undefined where the room's weight is 0.
[[nodiscard]] at::Tensor kernel_penalty(const Kernel& kernel, const KernelSettings& settings);
// Traits of a mixer whose bias is a kernel.
[[nodiscard]] MixerTraits kernel_traits(const ModelConfig& config, BiasLayout layout);
// The deviation of a kernel that Eq. 8 scales.
[[nodiscard]] std::vector<IdleSetting> idle_of_kernel(const ModelConfig& config);
[[nodiscard]] Kernel make_kernel(const ModelConfig& config, ParameterMaker& maker,
                                 const std::string& prefix, at::IntArrayRef shape);
// w itself, of the kernel's shape, in place of what was learned.
[[nodiscard]] Kernel given_kernel(const at::Tensor& w, ParameterMaker& maker,
                                  const std::string& prefix);

}  // namespace aft
