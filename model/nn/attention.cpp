#include "model/nn/attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "model/nn/mkl_thread.h"
#include "model/ops/common/saved.h"

namespace aft::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// LibTorch's own kernel for the processor and its gradient. Their products are MKL's, inside a
// parallel region, where MKL would split sums by the number of threads.
struct FusedAttention : torch::autograd::Function<FusedAttention> {
    // options.visible: what is added to the logits, of their dtype.
    static at::Tensor forward(AutogradContext* context, at::TensorList in,
                              const AttentionOptions& options) {
        const OneMklThreadEach one;
        const at::AutoDispatchBelowADInplaceOrView plain;
        const auto [out, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
            in[0], in[1], in[2], 0.0, options.causal, options.visible, options.scale);
        context->save_for_backward(
            {in[0], in[1], in[2], out, logsumexp, options.visible.value_or(at::Tensor())});
        context->saved_data["causal"] = options.causal;
        context->saved_data["scale"] = options.scale;
        return out;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second("fused attention");
        const variable_list saved = context->get_saved_variables();
        const OneMklThreadEach one;
        const at::AutoDispatchBelowADInplaceOrView plain;
        const at::Tensor& mask = saved[5];
        auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
            gradients[0], saved[0], saved[1], saved[2], saved[3], saved[4], 0.0,
            context->saved_data["causal"].toBool(),
            mask.defined() ? std::optional(mask) : std::nullopt,
            context->saved_data["scale"].toOptional<double>());
        return {q, k, v, {}};
    }
};

}  // namespace

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const AttentionOptions& options) {
    const auto rows_are_dense = [](const at::Tensor& x) { return x.stride(-1) == 1; };
    if (!q.is_cpu() || q.numel() == 0 || k.numel() == 0 || q.size(3) != v.size(3) ||
        !rows_are_dense(q) || !rows_are_dense(k) || !rows_are_dense(v))
        return at::scaled_dot_product_attention(q, k, v, options.visible, 0.0, options.causal,
                                                options.scale);
    AttentionOptions added = options;
    if (options.visible) {
        constexpr double kHidden = -std::numeric_limits<double>::infinity();
        added.visible = at::zeros(options.visible->sizes(), q.options())
                            .masked_fill_(options.visible->logical_not(), kHidden);
    }
    return FusedAttention::apply(at::TensorList{q, k, v}, added);
}

}  // namespace aft::nn
