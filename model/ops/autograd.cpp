#include "model/ops/autograd.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/check.h"
#include "model/ops/common/exact.h"
#include "model/ops/common/log_products.h"
#include "model/ops/common/saved.h"

namespace aft::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A call but for its tensors, as the list of integers that an autograd context can keep, and back.
std::vector<int64_t> pack(const Call& call) {
    const Options& o = call.options;
    return {static_cast<int64_t>(call.kind),
            static_cast<int64_t>(o.backend),
            o.causal,
            o.window,
            o.outside_hidden,
            o.grid_height,
            o.grid_width,
            o.row_block,
            o.bf16_operands};
}
Call unpack(const std::vector<int64_t>& v, const variable_list& x) {
    return {.kind = static_cast<OperatorKind>(v[0]),
            .options = {.causal = v[2] != 0,
                        .window = v[3],
                        .outside_hidden = v[4] != 0,
                        .grid_height = v[5],
                        .grid_width = v[6],
                        .backend = static_cast<OperatorBackend>(v[1]),
                        .row_block = v[7],
                        .bf16_operands = v[8] != 0},
            .in = {.q = or_undefined(x[0]),
                   .k = x[1],
                   .v = x[2],
                   .w = or_undefined(x[3]),
                   .u = or_undefined(x[4]),
                   .r = or_undefined(x[5])}};
}

class OperatorFunction : public torch::autograd::Function<OperatorFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& w, const at::Tensor& u,
                              const at::Tensor& r, const std::vector<int64_t>& packed, bool keeps) {
        variable_list saved{q, k, v, w, u, r};
        const Call call = unpack(packed, saved);
        const BackendResult result = functions_of(call.options.backend).evaluate(call, keeps);
        if (!keeps) return result.y;
        context->saved_data["call"] = packed;
        for (const at::Tensor& kept : {result.average, result.denominator, result.states})
            saved.push_back(or_nothing(kept, result.y));
        context->save_for_backward(saved);
        return result.y;
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const variable_list saved = context->get_saved_variables();
        const Call call = unpack(context->saved_data["call"].toIntVector(), saved);
        const BackendFunctions& functions = functions_of(call.options.backend);
        refuse_second(fmt::format("the {} operators", functions.name).c_str());
        if (call.in.v.numel() == 0) return zeros(call.in);
        const BackendResult kept{.y = {},
                                 .average = or_undefined(saved[6]),
                                 .denominator = or_undefined(saved[7]),
                                 .states = saved[8]};
        const Gradients g = functions.differentiate(call, kept, gradients[0].contiguous());
        return {g.q, g.k, g.v, g.w, g.u, g.r, at::Tensor(), at::Tensor()};
    }

  private:
    static variable_list zeros(const Inputs& in) {
        const auto zero = [](const at::Tensor& x) {
            return x.defined() ? at::zeros_like(x) : at::Tensor();
        };
        return {zero(in.q), zero(in.k), zero(in.v),   zero(in.w),
                zero(in.u), zero(in.r), at::Tensor(), at::Tensor()};
    }
};

class ExactAttend : public torch::autograd::Function<ExactAttend> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& bias,
                              const at::Tensor& keys, const at::Tensor& values, bool causal) {
        const ExactProblem x{bias, keys.contiguous(), values.contiguous(), causal};
        context->save_for_backward({x.bias, x.keys, x.values});
        context->saved_data["causal"] = causal;
        return exact_average_of_all(x);
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        refuse_second("the reference operators");
        const variable_list saved = context->get_saved_variables();
        const ExactGradient g = exact_gradient_of_all(
            {saved[0], saved[1], saved[2], context->saved_data["causal"].toBool()},
            gradients[0].contiguous());
        return {g.bias, g.keys, g.values, at::Tensor()};
    }
};

class LogProducts : public torch::autograd::Function<LogProducts> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k) {
        context->save_for_backward({q, k});
        return log_products_of(q, k);
    }

    // Tensor calls alone: has gradients of gradients.
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const variable_list saved = context->get_saved_variables();
        const LogProductsGradient g = log_products_gradient(saved[0], saved[1], gradients[0]);
        return {g.q, g.k};
    }
};

}  // namespace

at::Tensor apply_differentiably(const Call& call) {
    const Inputs& in = call.in;
    bool keeps = false;
    for (const at::Tensor& x : {in.q, in.k, in.v, in.w, in.u, in.r})
        keeps = keeps || (x.defined() && x.requires_grad());
    const auto given = [&](const at::Tensor& x) { return or_nothing(x, in.v); };
    return OperatorFunction::apply(given(in.q), in.k, in.v, given(in.w), given(in.u), given(in.r),
                                   pack(call), keeps && at::GradMode::is_enabled());
}

at::Tensor exact_attend(const at::Tensor& bias, const at::Tensor& keys, const at::Tensor& values,
                        bool causal) {
    return ExactAttend::apply(bias, keys, values, causal);
}

at::Tensor log_products(const at::Tensor& q, const at::Tensor& k) {
    return LogProducts::apply(q, k);
}

}  // namespace aft::ops
