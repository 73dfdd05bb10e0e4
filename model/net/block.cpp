#include "model/net/block.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/nn/fused.h"

namespace aft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Inputs for recomputation (activation checkpointing); RNG state as before the first pass.
struct Again : torch::CustomClassHolder {
    const Block* block = nullptr;
    MixContext context;
    Dropout dropout;
};

std::optional<at::Generator> copy_of(const std::optional<at::Generator>& generator) {
    if (!generator) return {};
    return generator->clone();
}

struct Recomputed : torch::autograd::Function<Recomputed> {
    // inputs: x, then the block's parameters, so that the graph knows all that gets a gradient.
    static variable_list forward(AutogradContext* context, at::TensorList inputs,
                                 const c10::intrusive_ptr<Again>& again, const Dropout& dropout) {
        again->dropout = {dropout.rate, copy_of(dropout.generator), dropout.skip_rate};
        context->save_for_backward(inputs.vec());
        context->saved_data["again"] = c10::IValue::make_capsule(again);
        const at::Tensor y = again->block->forward(inputs[0], again->context, dropout);
        again->context.tap = nullptr;  // a tap must not see the second pass
        return {y};
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradient) {
        variable_list inputs = context->get_saved_variables();
        const auto capsule = context->saved_data["again"].toCapsule();
        const auto again = c10::dynamic_intrusive_pointer_cast<Again>(capsule);
        const Dropout dropout{again->dropout.rate, copy_of(again->dropout.generator),
                              again->dropout.skip_rate};
        const at::AutoGradMode with_gradients(true);
        inputs[0] = inputs[0].detach().requires_grad_(true);
        const at::Tensor y = again->block->forward(inputs[0], again->context, dropout);
        variable_list gradients =
            torch::autograd::grad({y}, inputs, gradient, std::nullopt, false, true);
        gradients.resize(gradients.size() + 2);  // `again` and `dropout` have none
        return gradients;
    }
};

}  // namespace

at::Tensor Block::forward(const at::Tensor& x, const MixContext& context,
                          const Dropout& dropout) const {
    const BranchEnd end{&dropout, context.arithmetic};
    const at::Tensor mixed = mixer->add_to(x, norm1, context, end);
    if (context.tap != nullptr) (*context.tap)(context.prefix + "mixed", mixed);
    if (can_fuse(mixed) && mlp.activation == "gelu") return add_mlp(mixed, norm2, mlp, end);
    return mixed + dropout(mlp(norm2(mixed)));
}

at::Tensor Block::forward_recomputed(const at::Tensor& x, const MixContext& context,
                                     const Dropout& dropout) const {
    const auto again = c10::make_intrusive<Again>();
    again->block = this;
    again->context = context;
    variable_list inputs{x};
    inputs.insert(inputs.end(), parameters.begin(), parameters.end());
    return Recomputed::apply(at::TensorList(inputs), again, dropout)[0];
}

at::Tensor Block::step(const at::Tensor& x, MixerState& state) const {
    const at::Tensor mixed = x + mixer->step(norm1(x), state);
    return mixed + mlp(norm2(mixed));
}

}  // namespace aft
