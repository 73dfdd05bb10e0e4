// The CPU operators under autograd.
#include <torch/csrc/autograd/custom_function.h>

#include "model/ops/common/saved.h"
#include "model/ops/cpu/call.h"
#include "model/ops/cpu/cpu.h"
#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::vector<int64_t> pack(const Call& call, bool keeps) {
    const Options& o = call.options;
    return {static_cast<int64_t>(call.kind),
            o.causal,
            o.window,
            o.outside_hidden,
            o.grid_height,
            o.grid_width,
            o.bf16_operands,
            keeps};
}
Call unpack(const std::vector<int64_t>& v, Inputs in) {
    Options options;
    options.causal = v[1] != 0;
    options.window = v[2];
    options.outside_hidden = v[3] != 0;
    options.grid_height = v[4];
    options.grid_width = v[5];
    options.bf16_operands = v[6] != 0;
    return {.kind = static_cast<Kind>(v[0]), .options = options, .in = std::move(in)};
}

class CpuAft : public torch::autograd::Function<CpuAft> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& w, const at::Tensor& u,
                              const at::Tensor& r, const std::vector<int64_t>& packed) {
        variable_list saved{q, k, v, w, u, r};
        const bool keeps = packed.back() != 0;
        const Result result = evaluate(unpack(packed, inputs_of(saved)), keeps);
        if (!keeps) return result.y;
        context->saved_data["call"] = packed;
        for (const at::Tensor& kept : {result.average, result.denominator, result.states})
            saved.push_back(or_nothing(kept, result.y));
        context->save_for_backward(saved);
        return result.y;
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        refuse_second("the cpu operators");
        const variable_list saved = context->get_saved_variables();
        const Call call = unpack(context->saved_data["call"].toIntVector(), inputs_of(saved));
        if (call.in.v.numel() == 0) return nothing(call);
        const Result kept{.y = {},
                          .average = or_undefined(saved[6]),
                          .denominator = or_undefined(saved[7]),
                          .states = saved[8]};
        const Gradients g = differentiate(call, kept, gradients[0].contiguous());
        return {g.q, g.k, g.v, g.w, g.u, g.r, at::Tensor()};
    }

  private:
    static Inputs inputs_of(const variable_list& x) {
        return {.q = or_undefined(x[0]),
                .k = x[1],
                .v = x[2],
                .w = or_undefined(x[3]),
                .u = or_undefined(x[4]),
                .r = or_undefined(x[5])};
    }
    static variable_list nothing(const Call& call) {
        const auto zero = [](const at::Tensor& x) {
            return x.defined() ? at::zeros_like(x) : at::Tensor();
        };
        const Inputs& in = call.in;
        return {zero(in.q), zero(in.k), zero(in.v),  zero(in.w),
                zero(in.u), zero(in.r), at::Tensor()};
    }
};

at::Tensor rows_together(const at::Tensor& x) {  // each row of the table without gaps
    return x.defined() && x.stride(1) != 1 ? x.contiguous() : x;
}

}  // namespace

const char* why_not(Kind kind, const Inputs& in) {
    if (!in.v.device().is_cpu()) return "it computes on the processor only";
    if (in.v.scalar_type() != at::kFloat && in.v.scalar_type() != at::kBFloat16)
        return "it computes in float32 and bfloat16 only";
    if (kind == Kind::softmax || kind == Kind::linear) return "it has kernels for AFT only";
    return nullptr;
}

const char* instruction_set() {
    return chosen_set().name.data();
}

at::Tensor aft(Kind kind, const Inputs& in, const Options& options) {
    const bool flat = kind == Kind::local && options.window == 0;  // no position bias at all
    Call call{.kind = flat ? Kind::simple : kind, .options = options, .in = in};
    if (flat || kind == Kind::simple) call.in.w = call.in.u = call.in.r = at::Tensor();
    const auto whole = [](const at::Tensor& x) { return x.defined() ? x.contiguous() : x; };
    const at::Tensor w = call.is_conv() ? whole(call.in.w) : rows_together(call.in.w);
    variable_list x{whole(call.in.q), in.k.contiguous(), in.v.contiguous(), w,
                    whole(call.in.u), whole(call.in.r)};
    bool keeps = false;
    for (at::Tensor& input : x) {
        keeps = keeps || (input.defined() && input.requires_grad());
        input = or_nothing(input, in.v);
    }
    return CpuAft::apply(x[0], x[1], x[2], x[3], x[4], x[5],
                         pack(call, keeps && at::GradMode::is_enabled()));
}

}  // namespace aft::ops::cpu
