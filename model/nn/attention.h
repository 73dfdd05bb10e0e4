// Softmax attention by LibTorch's fused kernel, for mixers. Any thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>

namespace aft::nn {

struct AttentionOptions {
    // Which keys each query sees: bool, broadcast to [.., N, T].
    std::optional<at::Tensor> visible{};
    bool causal = false;
    std::optional<double> scale{};  // of the logits; none: 1 / sqrt(width)
};

// softmax(scale q k^T) v: [B, h, N, d], [B, h, T, d], [B, h, T, d] -> [B, h, N, d] (Vaswani et al.
// 2017, Eq. 1). Time O(N T d), memory O(N d). On the processor one thread and many give the same
// bits; gradients of gradients are an Error of LibTorch.
[[nodiscard]] at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k,
                                         const at::Tensor& v, const AttentionOptions& options = {});

}  // namespace aft::nn
