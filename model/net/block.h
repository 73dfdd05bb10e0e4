// One block: x += mixer(norm1(x)); x += mlp(norm2(x)). Owned by Net; one thread at a time.
#pragma once
#include <memory>

#include "model/mixers/mixer.h"
#include "model/nn/layers.h"

namespace aft {

struct Block {
    Norm norm1, norm2;
    std::unique_ptr<Mixer> mixer;
    Mlp mlp;
    std::vector<at::Tensor> parameters;  // of this block, in order

    // x [B, T, d] -> [B, T, d]
    [[nodiscard]] at::Tensor forward(const at::Tensor& x, const MixContext& context,
                                     const Dropout& dropout) const;
    // The same value and gradients, but the backward pass computes the inside again instead of
    // keeping it: one activation [B, T, d] per block instead of about twenty.
    [[nodiscard]] at::Tensor forward_recomputed(const at::Tensor& x, const MixContext& context,
                                                const Dropout& dropout) const;
    // x [B, d], the token at state.position -> [B, d]
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const;
};

}  // namespace aft
