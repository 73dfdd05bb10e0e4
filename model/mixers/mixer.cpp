#include "model/mixers/mixer.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/find.h"

namespace aft {

at::Tensor Mixer::add_to(const at::Tensor& x, const Norm& norm, const MixContext& context,
                         const BranchEnd& end) const {
    const at::Tensor y = forward(norm(x), context);
    return x + (end.dropout == nullptr ? y : (*end.dropout)(y));
}

MixerTraits mixer_traits(const ModelConfig& model) {
    MixerTraits traits = find_mixer(model.mixer).traits(model);
    // The decoding kernels know one width.
    if (traits.decoder == DecoderKind::packed && model.inner_width() != model.dim)
        traits.decoder = DecoderKind::streaming;
    return traits;
}

MixerTraits mixer_traits(const ModelConfig& model, int64_t layer) {
    const MixerRoom& room = find_mixer(model.mixer);
    return room.layer_traits != nullptr ? room.layer_traits(model, layer) : mixer_traits(model);
}

MixerCost mixer_cost(const ModelConfig& model, const CostShape& shape) {
    const MixerRoom& room = find_mixer(model.mixer);
    AFT_CHECK(room.cost != nullptr, "model.mixer={} does not state what it costs", model.mixer);
    MixerCost cost = room.cost(model, shape);
    LayerCost& layer = cost.layer;
    if (!model.causal()) {
        layer.decode_flops = layer.state_bytes = 0;
    } else if (room.traits(model).decoder == DecoderKind::prefix) {
        // Every token computes all tokens before it again; x of all is kept.
        layer.decode_flops = layer.forward_flops;
        layer.state_bytes = 4.0 * static_cast<double>(shape.tokens * model.dim);
    }
    return cost;
}

namespace {

// All tokens so far, for mixers without a state of their own.
struct PrefixState final : MixerState {
    at::Tensor x;  // [B, position, d]; undefined before the first token
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override {
        return std::make_unique<PrefixState>(*this);  // x is replaced, never changed in place
    }
    void select(const at::Tensor& rows) override {
        if (x.defined()) x = x.index_select(0, rows);
    }
};

}  // namespace

std::unique_ptr<MixerState> Mixer::start(int64_t) const {
    return std::make_unique<PrefixState>();
}

at::Tensor Mixer::step(const at::Tensor& x, MixerState& state) const {
    auto& prefix = dynamic_cast<PrefixState&>(state);
    const at::Tensor token = x.unsqueeze(1);
    prefix.x = prefix.x.defined() ? at::cat({prefix.x, token}, 1) : token;
    ++prefix.position;
    return forward(prefix.x, {}).select(1, -1);
}

at::Tensor Mixer::penalty() const {
    return {};
}

std::optional<at::Tensor> Mixer::bias(int64_t) const {
    return {};
}

StoredBias Mixer::stored_bias(int64_t) const {
    return {};
}

AttentionLogits Mixer::attention_rows(const AttentionRequest&) const {
    fail("this mixer does not show what a target attends to");
}

at::Tensor Mixer::key_maps(const LayerTaps&) const {
    fail("this mixer does not show its keys");
}

at::Tensor Mixer::gates(const LayerTaps&) const {
    fail("this mixer does not show its gates");
}

}  // namespace aft
