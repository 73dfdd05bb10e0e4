#include "model/ops/common/float64_gradient.h"

#include <ATen/ATen.h>

namespace aft::ops {

Gradients gradient_in_double(const Call& call, const at::Tensor& P) {
    const auto wide = [](const at::Tensor& x) { return x.defined() ? x.to(at::kDouble) : x; };
    const auto& [q, k, v, w, u, r] = call.in;
    const Call x{
        .kind = call.kind,
        .options = call.options,
        .in = {.q = {}, .k = wide(k), .v = wide(v), .w = wide(w), .u = wide(u), .r = wide(r)}};
    const BackendFunctions& tiled = functions_of(OperatorBackend::tiled);
    const Gradients g = tiled.differentiate(x, tiled.evaluate(x, true), wide(P));
    const auto as = [](const at::Tensor& gradient, const at::Tensor& like) {
        return gradient.defined() ? gradient.to(like.scalar_type()) : gradient;
    };
    return {.q = {},
            .k = as(g.k, k),
            .v = as(g.v, v),
            .w = as(g.w, w),
            .u = as(g.u, u),
            .r = as(g.r, r)};
}

}  // namespace aft::ops
