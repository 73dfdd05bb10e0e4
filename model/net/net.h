// Net: embedding, blocks, norm, head. One class for all tasks and mixers. Not thread-safe: one
// owner.
//   x = embed(tokens shifted right, start token first) + position
//   per block: x += mixer(norm1(x));  x += mlp(norm2(x))
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/mixers/mixer.h"
#include "model/nn/parameters.h"
#include "model/nn/tap.h"

namespace aft {

// Called with the residual stream [B, T, d] after each block; the next one gets what it returns.
using StreamEdit = std::function<at::Tensor(int64_t layer, const at::Tensor& x)>;

// One forward pass.
struct Pass {
    bool training = false;     // dropout on
    double dropout_rate = -1;  // < 0: model.dropout (a live setting of the trainer)
    // Of the last block's branches in training, linear over depth from 0 (Touvron et al. 2021).
    double stochastic_depth = 0;
    bool recompute = false;  // keep no activations inside blocks
    // Seeded by the trainer from (seed, step, micro batch).
    std::optional<at::Generator> dropout = {};
    // Training: seed of what mixers draw, one for all of a step.
    std::optional<uint64_t> noise = {};
    ops::OperatorBackend backend = ops::OperatorBackend::automatic;
    Arithmetic arithmetic = Arithmetic::fp32;
    const Tap* tap = nullptr;
    const StreamEdit* edit = nullptr;
};

// Streaming state of all layers; clone() to keep a point to resume from.
struct NetState {
    std::vector<std::unique_ptr<MixerState>> layers;
    int64_t position = 0;  // tokens taken; the next step predicts this sub-pixel
    [[nodiscard]] NetState clone() const;
    void select(const at::Tensor& rows);
};

class Net {
  public:
    // Fresh weights, a function of (config, seed); without a seed nothing is drawn, for weights
    // that are copied in. Throws usage Error on a config that does not fit.
    Net(const ModelConfig& config, std::optional<uint64_t> seed, at::Device device = at::kCPU);
    ~Net();
    Net(Net&&) noexcept;

    // image, text: input = int64 tokens [B, T' <= T], the *targets*; the net shifts them itself
    // (start token first)
    //   -> logits [B, T', levels]; row t predicts token t.
    // classify: input = float image [B, C, H, W], already normalised -> logits [B, classes].
    [[nodiscard]] at::Tensor forward(const at::Tensor& input, const Pass& pass) const;
    // Tokens fed as they are (-1 = start token), [B, T'] -> logits [B, T', levels].
    [[nodiscard]] at::Tensor forward_fed(const at::Tensor& fed, const Pass& pass) const;
    // One mixer (after norm1, with its output projection) or one whole block on x [B, T', d].
    [[nodiscard]] at::Tensor forward_layer(int64_t layer, bool whole_block,
                                           const at::Tensor& x) const;

    // What the mixers add to the training loss (Mixer::penalty), a scalar; undefined: nothing.
    [[nodiscard]] at::Tensor penalty() const;

    [[nodiscard]] NetState start(int64_t batch) const;
    // tokens int64 [B]: the token at state.position - 1 (-1 = start token, first call) -> logits
    // [B, levels].
    [[nodiscard]] at::Tensor step(const at::Tensor& tokens, NetState& state) const;

    [[nodiscard]] Parameters& parameters();
    [[nodiscard]] const Parameters& parameters() const;
    [[nodiscard]] const ModelConfig& config() const;
    [[nodiscard]] const Mixer& mixer(int64_t layer) const;

    friend void set_bias(Net& net, int64_t layer, const at::Tensor& w);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Another position bias of a layer, of the shape of its mixer's bias(): it replaces the parameters
// that it was made of, and has no gradients. usage Error where it cannot be.
void set_bias(Net& net, int64_t layer, const at::Tensor& w);

[[nodiscard]] int64_t parameter_count(const Parameters& parameters);
// Copies parameter values into another net of the same config (the worker's own copy).
void copy_values(const Parameters& from, Parameters& to);

}  // namespace aft
