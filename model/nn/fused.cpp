#include "model/nn/fused.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/check.h"
#include "model/nn/cpu/rows.h"
#include "model/nn/fused_parts.h"
#include "model/nn/products.h"
#include "model/ops/common/saved.h"

namespace aft {

namespace {

using nn::add_product;
using nn::apply_map;
using nn::column_sums;
using nn::mask_of;
using nn::Normed;
using nn::operand;
using nn::pointer;
using nn::product;
using nn::rows_of;
using nn::weight_gradient;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kFused = "the fused layers";

// inputs: x, norm weight, norm bias, then weight and bias of each map
struct NormedMaps : torch::autograd::Function<NormedMaps> {
    static variable_list forward(AutogradContext* context, at::TensorList inputs, double eps,
                                 bool bf16) {
        const at::Tensor& x = inputs[0];
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        Normed norm{rows_of(x), inputs[1], inputs[2], eps, {}};
        const at::Tensor normed = operand(norm(), arithmetic);
        variable_list out{x};
        std::vector<int64_t> shape = x.sizes().vec();
        for (size_t i = 3; i < inputs.size(); i += 2) {
            shape.back() = inputs[i].size(0);
            const at::Tensor y = apply_map(normed, operand(inputs[i], arithmetic), inputs[i + 1]);
            out.push_back(y.view(shape));
        }
        variable_list saved = inputs.vec();
        saved.push_back(norm.stats);
        context->save_for_backward(saved);
        context->saved_data["eps"] = eps;
        context->saved_data["bf16"] = bf16;
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const variable_list saved = context->get_saved_variables();
        const bool bf16 = context->saved_data["bf16"].toBool();
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        Normed norm{rows_of(saved[0]), saved[1], saved[2], context->saved_data["eps"].toDouble(),
                    saved.back()};
        const at::Tensor normed = operand(norm(), arithmetic);
        variable_list out(saved.size() + 1);  // of the inputs and the two numbers
        at::Tensor dx;
        for (size_t i = 1; i < gradients.size(); ++i) {
            const size_t at = 2 * i + 1;
            const at::Tensor wide = rows_of(gradients[i]), dy = operand(wide, arithmetic);
            out[at + 1] = column_sums(wide);
            out[at] = weight_gradient(dy, normed);
            const at::Tensor weight = operand(saved[at], arithmetic);
            if (dx.defined())
                add_product(dx, dy, weight);
            else
                dx = product(dy, weight);
        }
        std::tie(out[1], out[2]) = norm.gradient(dx, rows_of(gradients[0]));
        out[0] = dx.view_as(saved[0]);
        return out;
    }
};

// A layer norm alone. inputs: x, weight, bias
struct NormAlone : torch::autograd::Function<NormAlone> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& weight, const at::Tensor& bias, double eps) {
        Normed norm{rows_of(x), weight, bias, eps, {}};
        const at::Tensor y = norm().view_as(x);
        context->save_for_backward({x, weight, bias, norm.stats});
        context->saved_data["eps"] = eps;
        return y;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const variable_list saved = context->get_saved_variables();
        const Normed norm{rows_of(saved[0]), saved[1], saved[2],
                          context->saved_data["eps"].toDouble(), saved[3]};
        at::Tensor dx = rows_of(gradients[0]).clone();
        const auto [weight, bias] = norm.gradient(dx, {});
        return {dx.view_as(saved[0]), weight, bias, at::Tensor()};
    }
};

// A linear map alone. inputs: x, weight, bias (empty: none)
struct MapAlone : torch::autograd::Function<MapAlone> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& weight, const at::Tensor& bias) {
        context->save_for_backward({x, weight});
        context->saved_data["bias"] = bias.numel() > 0;
        std::vector<int64_t> shape = x.sizes().vec();
        shape.back() = weight.size(0);
        const at::Tensor rows = rows_of(x);
        return (bias.numel() > 0 ? apply_map(rows, weight, bias) : product(rows, weight.t()))
            .view(shape);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const variable_list saved = context->get_saved_variables();
        const at::Tensor dy = rows_of(gradients[0]);
        variable_list out(3);
        if (context->needs_input_grad(0)) out[0] = product(dy, saved[1]).view_as(saved[0]);
        out[1] = weight_gradient(dy, rows_of(saved[0]));
        if (context->saved_data["bias"].toBool()) out[2] = column_sums(dy);
        return out;
    }
};

// inputs: x, y, weight, bias, mask (empty: none)
struct AddMap : torch::autograd::Function<AddMap> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& y,
                              const at::Tensor& weight, const at::Tensor& bias,
                              const at::Tensor& mask, bool bf16) {
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        const at::Tensor from = operand(rows_of(y), arithmetic);
        context->save_for_backward({y, weight, mask});
        context->saved_data["bf16"] = bf16;
        return nn::joined({from, operand(weight, arithmetic), bias, mask, rows_of(x)}).view_as(x);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const variable_list saved = context->get_saved_variables();
        const bool bf16 = context->saved_data["bf16"].toBool();
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        at::Tensor wide = rows_of(gradients[0]);
        if (saved[2].numel() > 0) wide = wide.mul(saved[2].view_as(wide));
        const at::Tensor d = operand(wide, arithmetic), y = operand(rows_of(saved[0]), arithmetic);
        const at::Tensor dy = product(d, operand(saved[1], arithmetic));
        return {gradients[0],      dy.view_as(saved[0]), weight_gradient(d, y),
                column_sums(wide), at::Tensor(),         at::Tensor()};
    }
};

// inputs: x, norm weight, norm bias, fc1 weight, bias, fc2 weight, bias, mask (empty: none)
struct AddMlp : torch::autograd::Function<AddMlp> {
    static at::Tensor forward(AutogradContext* context, at::TensorList inputs, double eps,
                              bool bf16) {
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        Normed norm{rows_of(inputs[0]), inputs[1], inputs[2], eps, {}};
        const at::Tensor inside = product(operand(norm(), arithmetic),
                                          operand(inputs[3], arithmetic).t());  // without its bias
        at::Tensor active = at::empty_like(inside);
        nn::cpu::gelu_rows(gelu_of(inside, inputs[4], active));
        variable_list saved = inputs.vec();
        saved.push_back(norm.stats);
        saved.push_back(inside);
        context->save_for_backward(saved);
        context->saved_data["eps"] = eps;
        context->saved_data["bf16"] = bf16;
        return nn::joined({operand(active, arithmetic), operand(inputs[5], arithmetic), inputs[6],
                           inputs[7], norm.x})
            .view_as(inputs[0]);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const variable_list saved = context->get_saved_variables();
        const bool bf16 = context->saved_data["bf16"].toBool();
        const Arithmetic arithmetic = bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
        const at::Tensor whole = rows_of(gradients[0]), &inside = saved[9];
        variable_list out(10);
        at::Tensor wide = whole;
        if (saved[7].numel() > 0) wide = whole.mul(saved[7].view_as(whole));
        out[6] = column_sums(wide);
        const at::Tensor dy = operand(wide, arithmetic);
        at::Tensor d = product(dy, operand(saved[5], arithmetic));  // [N, 4 d]
        at::Tensor active = at::empty_like(inside);
        out[4] = at::empty_like(saved[4]);
        nn::cpu::gelu_gradient_rows({.forward = gelu_of(inside, saved[4], active),
                                     .dy = pointer(d),
                                     .dx = d.data_ptr<float>(),
                                     .sums = out[4].data_ptr<float>()});
        out[5] = weight_gradient(dy, operand(active, arithmetic));
        active.reset();
        const at::Tensor di = operand(d, arithmetic);
        Normed norm{rows_of(saved[0]), saved[1], saved[2], context->saved_data["eps"].toDouble(),
                    saved[8]};
        out[3] = weight_gradient(di, operand(norm(), arithmetic));
        at::Tensor dx = product(di, operand(saved[3], arithmetic));
        std::tie(out[1], out[2]) = norm.gradient(dx, whole);
        out[0] = dx.view_as(saved[0]);
        return out;
    }

  private:
    static nn::cpu::Gelu gelu_of(const at::Tensor& inside, const at::Tensor& bias,
                                 at::Tensor& active) {
        return {.x = pointer(inside),
                .bias = pointer(bias),
                .rows = inside.size(0),
                .width = inside.size(1),
                .y = active.data_ptr<float>()};
    }
};

// The gradient is made beside the loss: the logits are looked at once and not kept.
struct Entropy : torch::autograd::Function<Entropy> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& logits,
                              const at::Tensor& target, double smoothing, bool wanted) {
        const int64_t n = logits.size(0);
        at::Tensor gradient;
        if (wanted) gradient = at::empty_like(logits);
        const double sum = nn::cpu::cross_entropy_rows(
            {.logits = pointer(logits),
             .target = target.const_data_ptr<int64_t>(),
             .rows = n,
             .width = logits.size(1),
             .smoothing = static_cast<float>(smoothing),
             .scale = 1 / static_cast<float>(n),
             .gradient = wanted ? gradient.data_ptr<float>() : nullptr});
        if (wanted) context->save_for_backward({gradient});
        return at::scalar_tensor(sum / static_cast<double>(n), logits.options());
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kFused);
        const at::Tensor kept = context->get_saved_variables()[0];
        const float factor = gradients[0].item<float>();
        return {factor == 1 ? kept : kept.mul(factor), at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

}  // namespace

bool can_fuse(const at::Tensor& x) {
    return x.is_cpu() && x.scalar_type() == at::kFloat && x.numel() > 0;
}

at::Tensor apply_norm(const at::Tensor& x, const Norm& norm) {
    return NormAlone::apply(x, norm.weight, norm.bias, norm.eps);
}

at::Tensor apply_linear(const at::Tensor& x, const Linear& map) {
    return MapAlone::apply(x, map.weight,
                           map.bias.defined() ? map.bias : at::empty({0}, x.options()));
}

std::vector<at::Tensor> normed_maps(const at::Tensor& x, const Norm& norm,
                                    std::span<const Linear* const> maps, Arithmetic arithmetic) {
    variable_list inputs{x, norm.weight, norm.bias};
    for (const Linear* map : maps) {
        inputs.push_back(map->weight);
        inputs.push_back(map->bias.defined() ? map->bias
                                             : at::zeros({map->weight.size(0)}, x.options()));
    }
    return NormedMaps::apply(at::TensorList(inputs), norm.eps, arithmetic == Arithmetic::bf16);
}

at::Tensor add_map(const at::Tensor& x, const at::Tensor& y, const Linear& map,
                   const BranchEnd& end) {
    return AddMap::apply(x, y, map.weight, map.bias, mask_of(end, x),
                         end.arithmetic == Arithmetic::bf16);
}

at::Tensor add_mlp(const at::Tensor& x, const Norm& norm, const Mlp& mlp, const BranchEnd& end) {
    AFT_ASSERT(mlp.activation == "gelu");
    const variable_list inputs{x,
                               norm.weight,
                               norm.bias,
                               mlp.fc1.weight,
                               mlp.fc1.bias,
                               mlp.fc2.weight,
                               mlp.fc2.bias,
                               mask_of(end, x)};
    return AddMlp::apply(at::TensorList(inputs), norm.eps, end.arithmetic == Arithmetic::bf16);
}

at::Tensor mean_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                              double label_smoothing) {
    const auto is_row = [&] {  // else LibTorch's own check reports it
        const auto [low, high] = target.aminmax();
        return low.item<int64_t>() >= 0 && high.item<int64_t>() < logits.size(1);
    };
    if (!can_fuse(logits) || target.scalar_type() != at::kLong ||
        target.numel() != logits.size(0) || !is_row())
        return at::cross_entropy_loss(logits, target, {}, at::Reduction::Mean, -100,
                                      label_smoothing);
    const bool wanted = at::GradMode::is_enabled() && logits.requires_grad();
    return Entropy::apply(logits.contiguous(), target.contiguous(), label_smoothing, wanted);
}

}  // namespace aft
