// The gradients of the CPU operators: in float32 where they can be trusted, else in float64.
#include <cmath>

#include "model/ops/common/float64_gradient.h"
#include "model/ops/cpu/call.h"
#include "model/ops/cpu/exact/exact.h"

namespace aft::ops::cpu {

namespace {

// A power of two that brings dY near 2^20, the middle of the range of products with 1 / D.
float scale_of(const at::Tensor& dy) {
    const double largest = dy.abs().amax().item<double>();
    if (!std::isfinite(largest) || largest == 0) return 0x1p20F;
    return static_cast<float>(std::ldexp(1.0, 20 - std::clamp(std::ilogb(largest), -100, 100)));
}

// The mean of V: differences from it lose no digits where V has an offset.
at::Tensor centre(const at::Tensor& v) {
    return v.mean(1).to(at::kFloat).nan_to_num_(0, 0, 0);
}

// dK is a difference of two sums that cancel where almost every target attends to one source. It is
// trusted if finite and not below a fiftieth of its parts (float32: 2e-5 of it); a twentieth where
// several channels share a key, whose sum cancels once more.
bool is_trusted(const Norms& norms, const Gradients& g, bool shared) {
    bool finite = std::isfinite(norms.left) && std::isfinite(norms.part);
    for (const at::Tensor& x : {g.w, g.u, g.r})
        if (x.defined()) finite = finite && x.mul(0).sum().item<double>() == 0;
    return finite && std::sqrt(norms.left) >= (shared ? 0.05 : 0.02) * std::sqrt(norms.part);
}

template <class T>
Norms simple_gradient(const Call& call, const at::Tensor& states, const at::Tensor& dy,
                      const Gradients& g) {
    return scan_gradient<T>(scan_shape(call), {.forward = {.q = pointer<T>(call.in.q),
                                                           .k = pointer<T>(call.in.k),
                                                           .v = pointer<T>(call.in.v),
                                                           .states = states.data_ptr<float>()},
                                               .dy = pointer<T>(dy),
                                               .dq = writable<T>(g.q),
                                               .dk = writable<T>(g.k),
                                               .dv = writable<T>(g.v)});
}

template <class T>
Norms banded_gradient(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                      Gradients& g) {
    const Inputs& in = call.in;
    if (in.w.defined()) g.w = at::zeros({in.v.size(1), in.v.size(1)}, in.w.options());
    if (in.u.defined()) {
        g.u = at::empty_like(in.u);
        g.r = at::empty_like(in.r);
    }
    const at::Tensor mean = centre(in.v);
    return band_gradient<T>(band_shape(call), {.q = pointer<T>(in.q),
                                               .k = pointer<T>(in.k),
                                               .v = pointer<T>(in.v),
                                               .dy = pointer<T>(dy),
                                               .average = pointer<float>(kept.average),
                                               .denominator = pointer<float>(kept.denominator),
                                               .mean = pointer<float>(mean),
                                               .scale = scale_of(dy),
                                               .dq = writable<T>(g.q),
                                               .dk = writable<T>(g.k),
                                               .dv = writable<T>(g.v),
                                               .bias = {.dw = writable<float>(g.w),
                                                        .du = writable<float>(g.u),
                                                        .dr = writable<float>(g.r)}});
}

template <class T>
Norms convolved_gradient(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                         Gradients& g) {
    const Inputs& in = call.in;
    g.w = at::empty_like(in.w);
    const at::Tensor mean = centre(in.v);
    return conv_gradient<T>(conv_shape(call), {.q = pointer<T>(in.q),
                                               .k = pointer<T>(in.k),
                                               .v = pointer<T>(in.v),
                                               .dy = pointer<T>(dy),
                                               .w = pointer<float>(in.w),
                                               .average = pointer<float>(kept.average),
                                               .denominator = pointer<float>(kept.denominator),
                                               .mean = pointer<float>(mean),
                                               .scale = scale_of(dy),
                                               .dq = writable<T>(g.q),
                                               .dk = writable<T>(g.k),
                                               .dv = writable<T>(g.v),
                                               .dw = writable<float>(g.w)});
}

template <class T>
Norms quick_gradient(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                     Gradients& g) {
    if (call.is_simple()) return simple_gradient<T>(call, kept.states, dy, g);
    return call.is_conv() ? convolved_gradient<T>(call, kept, dy, g)
                          : banded_gradient<T>(call, kept, dy, g);
}

// In float32, rounded once at the end: else the exact path would add to rounded sums.
Gradients rounded_once(const Call& call, const BackendResult& kept, const at::Tensor& dy) {
    Gradients g =
        differentiate({.kind = call.kind, .options = call.options, .in = widened(call.in)}, kept,
                      dy.to(at::kFloat));
    for (at::Tensor* x : {&g.q, &g.k, &g.v})
        if (x->defined()) *x = x->to(call.in.v.scalar_type());
    return g;
}

bool needs_exact(const Call& call, const BackendResult& kept) {
    if (call.is_simple()) return kept.average.defined();
    return kept.denominator.numel() > 0 && kept.denominator.amin().item<float>() < 0;
}

}  // namespace

Gradients differentiate(const Call& call, const BackendResult& kept, const at::Tensor& dy) {
    const bool is_exact = needs_exact(call, kept);
    if (is_exact && call.is_bf16()) return rounded_once(call, kept, dy);
    const Inputs& in = call.in;
    Gradients g;
    g.k = empty_result(in.k);
    g.v = empty_result(in.v);
    if (in.q.defined()) g.q = empty_result(in.q);
    Norms norms{.left = 0, .part = 1};  // not to be trusted
    if (!is_exact || !call.is_simple()) {
        norms = call.is_bf16() ? quick_gradient<Bf16>(call, kept, dy, g)
                               : quick_gradient<float>(call, kept, dy, g);
    } else if (g.q.defined()) {
        const at::Tensor gate = in.q.to(at::kDouble).sigmoid();
        g.q = (dy * kept.average * gate * (1 - gate)).to(in.q.scalar_type());
    }
    // float64 for small tensors: every element may suffer cancellation at once, which the test by
    // norms misses (up to 2.8e-5 in ten thousand random shapes, none of aft-simple). Likewise dw
    // with few weights a row, summed over channels.
    constexpr int64_t kFewNumbers = 256, kFewWeights = 4;
    const bool few = in.v.numel() <= kFewNumbers && !call.is_bf16() && !call.is_simple();
    const bool cancels = few || (g.u.defined() && in.v.size(1) <= kFewWeights);
    const auto upstream = [&] { return gated(dy.to(at::kFloat), in.q); };  // rarely wanted
    if (cancels || !is_trusted(norms, g, call.is_conv())) {
        const at::ScalarType type = in.v.scalar_type();
        const Gradients x = gradient_in_double(
            {.kind = call.kind, .options = call.options, .in = widened(in)}, upstream());
        return {g.q, x.k.to(type), x.v.to(type), x.w, x.u, x.r};
    }
    if (is_exact) add_exact_gradient(call, kept, dy, g);
    return g;
}

}  // namespace aft::ops::cpu
