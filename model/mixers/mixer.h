// A mixer room: what stands in a block between norm1 and the residual sum, projections included.
// Room = one .cpp with one exported function `MixerRoom NAME_mixer();`, listed in rooms.cpp.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/rooms.h"
#include "model/config.h"
#include "model/nn/layers.h"
#include "model/nn/parameters.h"
#include "model/nn/tap.h"
#include "model/ops/aft.h"
#include "model/traits.h"

namespace aft {

// What one forward pass needs besides x.
struct MixContext {
    ops::OperatorBackend backend = ops::OperatorBackend::automatic;
    Arithmetic arithmetic = Arithmetic::fp32;
    // Token grid of this input (conv2d; may differ from training).
    int64_t grid_height = 0, grid_width = 0;
    int64_t layer = 0;
    // Seed of what a mixer draws in this step; none: it answers as in inference.
    std::optional<uint64_t> noise;
    const Tap* tap = nullptr;
    std::string prefix;  // "blocks.3." for tap names
};

// Streaming state of one layer for a batch of samples: what a step needs of the tokens before it.
// Value semantics through clone(): a clone can be kept and resumed at any time. Owned by the worker
// thread.
class MixerState {
  public:
    virtual ~MixerState() = default;
    [[nodiscard]] virtual std::unique_ptr<MixerState> clone() const = 0;
    // Keeps the given rows of the batch, in this order (resampling, branching): rows int64 [B'].
    virtual void select(const at::Tensor& rows) = 0;
    int64_t position = 0;  // tokens taken so far
};

// q, k, v of one layer for one input, on the CPU, float32: what the mixer's forward() hands to the
// tap by show(). Undefined: it has none, as its traits say.
struct LayerTaps {
    at::Tensor q;                           // [T, d]
    at::Tensor k;                           // [T, d]; conv mixers [T, h]
    at::Tensor v;                           // [T, d]
    [[nodiscard]] int64_t tokens() const {  // T
        return v.defined() ? v.size(0) : k.defined() ? k.size(0) : q.size(0);
    }
};

// A position bias as it is stored, so that w [T, T] is never formed from factors: w, or u and r
// with w = u r^T ([T, d']), with gradients; it counts where |t - j| < window (0: everywhere).
struct StoredBias {
    at::Tensor w, u, r;
    int64_t window = 0;
};

// The implicit attention of one target: softmax over the visible sources of these logits.
struct AttentionRequest {
    const LayerTaps& taps;
    int64_t target = 0;
    bool content = true;  // with the keys; else the position bias alone
    at::Tensor bias;      // [heads, T], float64: the target's row of w; undefined: 0
};
struct AttentionLogits {
    at::Tensor logits;             // [rows, T], float64
    at::Tensor gate;               // [rows], float64: how much a row lets through
    const char* axis = "channel";  // what a row is: channel, head
};

class Mixer {
  public:
    virtual ~Mixer() = default;
    // x [B, T, d] (already normalised) -> [B, T, d]. Hands q, k and v, of those that it has, to the
    // tap: show() of projections.h.
    [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x,
                                             const MixContext& context) const = 0;
    // x + dropout(forward(norm(x))): the first half of a block. Rooms may do it in fewer passes.
    [[nodiscard]] virtual at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                            const MixContext& context, const BranchEnd& end) const;
    // Streaming: x [B, d] is the token at state.position -> [B, d]; advances the state. Causal
    // models only. A room without a state of its own computes the whole prefix again.
    [[nodiscard]] virtual std::unique_ptr<MixerState> start(int64_t batch) const;
    [[nodiscard]] virtual at::Tensor step(const at::Tensor& x, MixerState& state) const;

    // What the training loss has besides the task's, its weight included: a scalar with gradients;
    // undefined: nothing.
    [[nodiscard]] virtual at::Tensor penalty() const;

    // What probes ask; a room answers what its traits promise.
    // Effective position bias w for T tokens, target-major: [T, T] or [heads, T, T] (0 outside a
    // window), or kernels [heads, s] / [heads, s, s], or where traits say is_centred a band [heads,
    // T, s]; nullopt for mixers without one. Detached, float32.
    [[nodiscard]] virtual std::optional<at::Tensor> bias(int64_t T) const;
    [[nodiscard]] virtual StoredBias stored_bias(int64_t T) const;
    [[nodiscard]] virtual AttentionLogits attention_rows(const AttentionRequest& request) const;
    // K of every source, [d or heads, T], float64: maps that hold for all targets.
    [[nodiscard]] virtual at::Tensor key_maps(const LayerTaps& taps) const;
    // What multiplies the result, [T, d], float64.
    [[nodiscard]] virtual at::Tensor gates(const LayerTaps& taps) const;
};

// What a mixer is, too, whose position bias can be given another value (Net's set_bias).
class GivenBias {
  public:
    virtual ~GivenBias() = default;
    // Takes w, of the shape of Mixer::bias(), in place of its own, as a parameter with that prefix.
    virtual void set_bias(const at::Tensor& w, ParameterMaker& maker,
                          const std::string& prefix) = 0;
};

// A setting of the room that the value of another leaves unread: "model.bias_std" by
// "model.factors=64"; it is read with "model.factors=0".
struct IdleSetting {
    std::string key, by, needs;
};

struct MixerRoom {
    RoomInfo info;
    MixerTraits (*traits)(const ModelConfig&) = nullptr;
    // Of rooms whose layers differ; none: as traits.
    MixerTraits (*layer_traits)(const ModelConfig&, int64_t layer) = nullptr;
    RoomVisit visit = nullptr;  // settings of its own: visit_settings<Own>
    std::vector<IdleSetting> (*idle)(const ModelConfig&) = nullptr;
    // Throws usage Error on settings that do not fit. What every model has (model.heads,
    // query_gate, output_projection) is done or refused.
    void (*check)(const ModelConfig&) = nullptr;
    // prefix: "blocks.3.mixer."
    std::unique_ptr<Mixer> (*make)(const ModelConfig&, ParameterMaker&,
                                   const std::string& prefix) = nullptr;
    // What a layer of these settings costs; settings that check() lets through. With mixers/cost.h.
    MixerCost (*cost)(const ModelConfig&, const CostShape&) = nullptr;
    bool is_hidden = false;  // found by its name, offered by no setting, list or help
};

[[nodiscard]] const std::vector<MixerRoom>& mixers();  // but for hidden ones
// For programs that bring rooms of their own, before anything else is called (hidden ones: before
// other threads look for mixers).
void add_mixer(MixerRoom room);

}  // namespace aft
