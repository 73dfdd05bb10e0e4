// A mixer room: what stands in a block between norm1 and the residual sum, projections included.
// Room = one .cpp with one exported function `MixerRoom NAME_mixer();`, listed in rooms.cpp.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/rooms.h"
#include "model/config.h"
#include "model/net/tap.h"
#include "model/nn/layers.h"
#include "model/nn/parameters.h"
#include "model/ops/aft.h"

namespace aft {

// What one forward pass needs besides x.
struct MixContext {
    ops::Backend backend = ops::Backend::automatic;
    Arithmetic arithmetic = Arithmetic::fp32;
    int64_t grid_height = 0,
            grid_width = 0;  // token grid of this input (conv2d; may differ from training)
    bool class_token = false;
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

class Mixer {
  public:
    virtual ~Mixer() = default;
    // x [B, T, d] (already normalised) -> [B, T, d]
    [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x,
                                             const MixContext& context) const = 0;
    // x + dropout(forward(norm(x))): the first half of a block. Rooms may do it in fewer passes.
    [[nodiscard]] virtual at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                            const MixContext& context, const BranchEnd& end) const;
    // Streaming: x [B, d] is the token at state.position -> [B, d]; advances the state. Causal
    // models only.
    [[nodiscard]] virtual std::unique_ptr<MixerState> start(int64_t batch) const = 0;
    [[nodiscard]] virtual at::Tensor step(const at::Tensor& x, MixerState& state) const = 0;
    // Effective position bias w for T tokens, target-major: [T, T] (0 outside a window), or conv
    // kernels [h, s] / [h, s, s]; nullopt for mixers without one. Detached, float32.
    [[nodiscard]] virtual std::optional<at::Tensor> bias(int64_t T) const = 0;
    // The operator's view of this layer for probes: kind, options and w/u/r (q, k, v left
    // undefined).
    [[nodiscard]] virtual ops::Kind kind() const = 0;
    [[nodiscard]] virtual ops::Inputs bias_inputs(int64_t T) const = 0;
    [[nodiscard]] virtual ops::Options options(const MixContext& context) const = 0;
};

struct MixerRoom {
    RoomInfo info;
    bool causal = true, non_causal = true;        // which tasks it serves
    void (*check)(const ModelConfig&) = nullptr;  // throws usage Error on settings that do not fit
    // prefix: "blocks.3.mixer."
    std::unique_ptr<Mixer> (*make)(const ModelConfig&, ParameterMaker&,
                                   const std::string& prefix) = nullptr;
};

[[nodiscard]] const std::vector<MixerRoom>& mixers();

}  // namespace aft
