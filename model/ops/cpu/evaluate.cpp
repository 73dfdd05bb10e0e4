// The forward passes of the CPU operators, and what they have in common with the gradients.
#include "core/system/huge_pages.h"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/call.h"
#include "model/ops/cpu/exact/exact.h"

namespace aft::ops::cpu {

ConvShape conv_shape(const Call& call) {
    const auto& [kind, options, in] = call;
    const bool flat = kind == OperatorKind::conv1d;
    return {.batch = in.v.size(0),
            .length = in.v.size(1),
            .channels = in.v.size(2),
            .heads = in.w.size(0),
            .kernel = in.w.size(1),
            .grid_height = flat ? 1 : options.grid_height,
            .grid_width = flat ? in.v.size(1) : options.grid_width,
            .flat = flat,
            .causal = options.causal};
}

ScanShape scan_shape(const Call& call) {
    const auto& [kind, options, in] = call;
    return {.batch = in.v.size(0),
            .length = in.v.size(1),
            .channels = in.v.size(2),
            .causal = options.causal};
}

BandShape band_shape(const Call& call) {
    const auto& [kind, options, in] = call;
    BandBias bias{.window = kind == OperatorKind::full ? in.v.size(1)
                                                       : std::min(options.window, in.v.size(1)),
                  .hidden = kind == OperatorKind::local && options.outside_hidden};
    if (in.w.defined()) {
        bias.w = pointer<float>(in.w);
        bias.w_row = in.w.stride(0);
    } else {
        bias.u = pointer<float>(in.u);
        bias.r = pointer<float>(in.r);
        bias.factors = in.u.size(1);
    }
    return {.batch = in.v.size(0),
            .length = in.v.size(1),
            .channels = in.v.size(2),
            .causal = options.causal,
            .bias = bias,
            .bf16 = options.bf16_operands && bf16_kernels() != nullptr};
}

at::Tensor empty_result(const at::Tensor& x) {
    at::Tensor out = at::empty_like(x);
    advise_huge_pages(out.data_ptr(), static_cast<int64_t>(out.nbytes()));
    return out;
}

// In float64: LibTorch's float32 sigmoid rounds differently at the borders of its threads' ranges.
at::Tensor gated(const at::Tensor& R, const at::Tensor& q) {
    return q.defined() ? (q.to(at::kDouble).sigmoid() * R).to(R.scalar_type()) : R;
}

Inputs widened(const Inputs& in) {
    const auto wide = [](const at::Tensor& x) { return x.defined() ? x.to(at::kFloat) : x; };
    return {.q = wide(in.q), .k = wide(in.k), .v = wide(in.v), .w = in.w, .u = in.u, .r = in.r};
}

namespace {

template <class T>
BackendResult weighted(const Call& call, bool keeps) {
    const Inputs& in = call.in;
    BackendResult out{.y = empty_result(in.v), .average = {}, .denominator = {}, .states = {}};
    const auto run = [&] {
        if (call.is_conv())
            return conv_forward<T>(conv_shape(call),
                                   {.q = pointer<T>(in.q),
                                    .k = pointer<T>(in.k),
                                    .v = pointer<T>(in.v),
                                    .w = pointer<float>(in.w),
                                    .y = writable<T>(out.y),
                                    .average = writable<float>(out.average),
                                    .denominator = writable<float>(out.denominator)});
        BandShape shape = band_shape(call);
        shape.bf16 = shape.bf16 && !keeps;  // a gradient is no better than the averages it is given
        return band_forward<T>(shape, {.q = pointer<T>(in.q),
                                       .k = pointer<T>(in.k),
                                       .v = pointer<T>(in.v),
                                       .y = writable<T>(out.y),
                                       .average = writable<float>(out.average),
                                       .denominator = writable<float>(out.denominator)});
    };
    if (keeps) {
        out.average = at::empty_like(in.v, at::kFloat);
        out.denominator = at::empty_like(in.k, at::kFloat);
    }
    if (!run()) apply_exact_fallback(call, out);
    return out;
}

template <class T>
BackendResult simple(const Call& call, bool keeps) {
    const Inputs& in = call.in;
    const ScanShape shape = scan_shape(call);
    BackendResult out{.y = empty_result(in.v), .average = {}, .denominator = {}, .states = {}};
    if (keeps) out.states = at::empty({shape.states()}, at::kFloat);
    if (scan_forward<T>(shape, {.q = pointer<T>(in.q),
                                .k = pointer<T>(in.k),
                                .v = pointer<T>(in.v),
                                .y = writable<T>(out.y),
                                .states = writable<float>(out.states)}))
        return out;
    if (!keeps) {
        apply_exact_fallback(call, out);
        return out;
    }
    out.average = at::empty_like(in.v, at::kFloat);
    out.denominator = at::empty_like(in.k, at::kFloat);
    out.states = at::Tensor();
    compute_exactly(call, out);
    return out;
}

}  // namespace

BackendResult evaluate(const Call& call, bool keeps) {
    if (call.in.v.numel() == 0) {
        const at::Tensor empty = at::empty_like(call.in.v);
        return {empty, empty, empty, at::empty({0}, empty.options())};
    }
    if (call.is_simple())
        return call.is_bf16() ? simple<Bf16>(call, keeps) : simple<float>(call, keeps);
    return call.is_bf16() ? weighted<Bf16>(call, keeps) : weighted<float>(call, keeps);
}

}  // namespace aft::ops::cpu
