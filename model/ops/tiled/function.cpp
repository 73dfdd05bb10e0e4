// The tiled operators under autograd.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "model/ops/common/saved.h"
#include "model/ops/tiled/call.h"
#include "model/ops/tiled/tiled.h"

namespace aft::ops::tiled {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A problem as the list of integers that an autograd context can keep, and back.
std::vector<int64_t> pack(const Problem& p) {
    const Shape& s = p.shape;
    return {static_cast<int64_t>(s.kind),
            s.causal,
            s.window,
            s.outside_hidden,
            s.grid_height,
            s.grid_width,
            s.row_block,
            p.groups,
            p.batch};
}
Problem unpack(const std::vector<int64_t>& v) {
    return {.shape = {.kind = static_cast<Kind>(v[0]),
                      .causal = v[1] != 0,
                      .window = v[2],
                      .outside_hidden = v[3] != 0,
                      .grid_height = v[4],
                      .grid_width = v[5],
                      .row_block = v[6]},
            .groups = v[7],
            .batch = v[8]};
}

// dK = sum_s (V - mu) dV + X SC cancels where almost every row listens to a single source. What is
// left is trusted if it is finite and not below a fiftieth of its parts (float32: 2e-5 of it).
bool is_trusted(const Gradient& g, const Plan& plan) {
    const at::Tensor& V = plan.x.values;
    const at::Tensor part = g.x.values * (V - V.mean(1, true));
    bool finite = true;
    for (const at::Tensor& x : {g.x.values, g.bias.w, g.bias.u, g.bias.r})
        if (x.defined()) finite = finite && x.mul(0).sum().item<double>() == 0;
    return finite && g.x.keys.norm().item<double>() >= 0.02 * part.norm().item<double>();
}

// A power of two that brings P near 1, so that neither tiny nor huge loss scales underflow.
double scale_of(const at::Tensor& P) {
    const double largest = P.abs().amax().item<double>();
    if (!std::isfinite(largest) || largest == 0) return 1;
    const int exponent = std::ilogb(largest);
    return std::abs(exponent) < 20 ? 1 : std::ldexp(1.0, exponent);
}

class TiledAverage : public torch::autograd::Function<TiledAverage> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& keys,
                              const at::Tensor& values, const at::Tensor& w, const at::Tensor& u,
                              const at::Tensor& r, const std::vector<int64_t>& problem) {
        const at::Tensor K = keys.contiguous(), V = values.contiguous();
        const Plan plan = make_plan(unpack(problem), K, V);
        const Bias bias(unpack(problem).shape, {or_undefined(w), or_undefined(u), or_undefined(r)},
                        K.size(1), K.options());
        Average result{.R = at::zeros_like(V), .D = at::ones_like(K)};
        if (V.numel() > 0) result = average(plan, bias);
        context->saved_data["problem"] = problem;
        context->save_for_backward({K, V, w, u, r, result.R, result.D});
        return result.R;
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        refuse_second("the tiled operators");
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &K = saved[0], &V = saved[1];
        const Call call{unpack(context->saved_data["problem"].toIntVector()),
                        {or_undefined(saved[2]), or_undefined(saved[3]), or_undefined(saved[4])}};
        if (V.numel() == 0) return {at::zeros_like(K), at::zeros_like(V), {}, {}, {}, {}};
        const Plan plan = make_plan(call.problem, K, V);
        const double scale = scale_of(gradients[0]);
        const at::Tensor P =
            scale == 1 ? gradients[0].contiguous() : gradients[0].div(scale).contiguous();
        Gradient g = differentiate(call, plan, {{.R = saved[5], .D = saved[6]}, P});
        const auto type = K.scalar_type();
        if (type == at::kFloat && !is_trusted(g, plan)) g = differentiate_in_double(call, plan, P);
        const auto finish = [&](const at::Tensor& x) {
            return x.defined() ? (scale == 1 ? x : x * scale).to(type) : x;
        };
        return {finish(g.x.keys), finish(g.x.values), finish(g.bias.w),
                finish(g.bias.u), finish(g.bias.r),   at::Tensor()};
    }
};

}  // namespace

at::Tensor aft(Kind kind, const Inputs& in, const Options& options) {
    const Grouped x = to_groups(kind, in.k, in.v);
    const Problem problem = problem_of(kind, options, x);
    const at::Tensor R =
        TiledAverage::apply(x.keys, x.values, or_nothing(in.w, in.v), or_nothing(in.u, in.v),
                            or_nothing(in.r, in.v), pack(problem));
    return from_groups(R, in.v);
}

}  // namespace aft::ops::tiled
