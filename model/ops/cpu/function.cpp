// The CPU operators under autograd.
#include <ATen/ATen.h>
#include <sys/mman.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "model/ops/cpu/band.h"
#include "model/ops/cpu/conv.h"
#include "model/ops/cpu/cpu.h"
#include "model/ops/cpu/half_kernels.h"
#include "model/ops/cpu/scan.h"
#include "model/ops/groups.h"
#include "model/ops/saved.h"
#include "model/ops/tiled/rescue.h"

namespace aft::ops::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* pointer(const at::Tensor& x) {
    return x.defined() ? x.const_data_ptr<float>() : nullptr;
}
float* writable(const at::Tensor& x) {
    return x.defined() ? x.data_ptr<float>() : nullptr;
}

// Room for a result. Where it is large and comes from the system anew (in the program: the first
// time, app/program.cpp keeps it then) it asks for large pages: touching it first in small ones
// cost 18 of the 30 ms of aft-simple at T = 65536.
at::Tensor room_like(const at::Tensor& x) {
    constexpr uintptr_t kPage = uintptr_t{2} << 20;
    at::Tensor out = at::empty_like(x);
    if (out.nbytes() < 16 * kPage) return out;
    const auto begin = reinterpret_cast<uintptr_t>(out.data_ptr());
    const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
    const uintptr_t last = (begin + out.nbytes()) / kPage * kPage;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish
    return out;
}

// An operator call: undefined tensors stay undefined.
struct Call {
    Kind kind = Kind::simple;
    Options options;
    Inputs in;

    [[nodiscard]] bool is_simple() const { return kind == Kind::simple; }
    [[nodiscard]] bool is_conv() const { return is_convolution(kind); }
    [[nodiscard]] ConvShape conv() const {
        const bool flat = kind == Kind::conv1d;
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
    [[nodiscard]] ScanShape scan() const {
        return {.batch = in.v.size(0),
                .length = in.v.size(1),
                .channels = in.v.size(2),
                .causal = options.causal};
    }
    [[nodiscard]] BandShape band() const {
        BandBias bias{
            .window = kind == Kind::full ? in.v.size(1) : std::min(options.window, in.v.size(1)),
            .hidden = kind == Kind::local && options.outside_hidden};
        if (in.w.defined()) {
            bias.w = pointer(in.w);
            bias.w_row = in.w.stride(0);
        } else {
            bias.u = pointer(in.u);
            bias.r = pointer(in.r);
            bias.factors = in.u.size(1);
        }
        return {.batch = in.v.size(0),
                .length = in.v.size(1),
                .channels = in.v.size(2),
                .causal = options.causal,
                .bias = bias,
                .half = options.half_operands && half_kernels() != nullptr};
    }
};

std::vector<int64_t> pack(const Call& call, bool keeps) {
    const Options& o = call.options;
    return {static_cast<int64_t>(call.kind),
            o.causal,
            o.window,
            o.outside_hidden,
            o.grid_height,
            o.grid_width,
            o.half_operands,
            keeps};
}
Call unpack(const std::vector<int64_t>& v, Inputs in) {
    Options options;
    options.causal = v[1] != 0;
    options.window = v[2];
    options.outside_hidden = v[3] != 0;
    options.grid_height = v[4];
    options.grid_width = v[5];
    options.half_operands = v[6] != 0;
    return {.kind = static_cast<Kind>(v[0]), .options = options, .in = std::move(in)};
}

struct Result {
    at::Tensor y, average, denominator, states;  // the last three as the gradient needs them
};

// In float64, as LibTorch's sigmoid of float32 rounds otherwise where its threads' shares end.
at::Tensor gated(const at::Tensor& R, const at::Tensor& q) {
    return q.defined() ? (q.to(at::kDouble).sigmoid() * R).to(R.scalar_type()) : R;
}

Result weighted(const Call& call, bool keeps) {
    const Inputs& in = call.in;
    Result out{.y = room_like(in.v), .average = {}, .denominator = {}, .states = {}};
    const auto run = [&] {
        if (call.is_conv())
            return conv_forward(call.conv(), {.q = pointer(in.q),
                                              .k = pointer(in.k),
                                              .v = pointer(in.v),
                                              .w = pointer(in.w),
                                              .y = writable(out.y),
                                              .average = writable(out.average),
                                              .denominator = writable(out.denominator)});
        BandShape shape = call.band();
        shape.half = shape.half && !keeps;  // a gradient is no better than the averages it is given
        return band_forward(shape, {.q = pointer(in.q),
                                    .k = pointer(in.k),
                                    .v = pointer(in.v),
                                    .y = writable(out.y),
                                    .average = writable(out.average),
                                    .denominator = writable(out.denominator)});
    };
    const auto keep = [&] {
        out.average = at::empty_like(in.v);
        out.denominator = at::empty_like(in.k);
    };
    if (keeps) keep();
    if (run()) return out;
    if (!keeps) {  // which entries were not safe is known only with the denominators
        keep();
        run();
    }
    tiled::repair({call.kind, in, call.options}, {out.average, out.denominator});
    out.y = gated(out.average, in.q);
    return out;
}

Result simple(const Call& call, bool keeps) {
    const Inputs& in = call.in;
    const ScanShape shape = call.scan();
    Result out{.y = room_like(in.v), .average = {}, .denominator = {}, .states = {}};
    if (keeps) out.states = at::empty({shape.states()}, in.v.options());
    if (scan_forward(shape, {.q = pointer(in.q),
                             .k = pointer(in.k),
                             .v = pointer(in.v),
                             .y = writable(out.y),
                             .states = writable(out.states)}))
        return out;
    out.average = at::zeros_like(in.v);
    const at::Tensor all = at::full_like(in.v, kTaken);
    tiled::repair({call.kind, in, call.options}, {out.average, all});
    return {
        .y = gated(out.average, in.q), .average = out.average, .denominator = all, .states = {}};
}

Result evaluate(const Call& call, bool keeps) {
    if (call.in.v.numel() == 0) {
        const at::Tensor empty = at::empty_like(call.in.v);
        return {empty, empty, empty, at::empty({0}, empty.options())};
    }
    return call.is_simple() ? simple(call, keeps) : weighted(call, keeps);
}

struct Gradients {
    at::Tensor q, k, v, w, u, r;
};

// A power of two that brings dY near 2^20, where products with 1 / D have most room.
float scale_of(const at::Tensor& dy) {
    const double largest = dy.abs().amax().item<double>();
    if (!std::isfinite(largest) || largest == 0) return 0x1p20F;
    return static_cast<float>(std::ldexp(1.0, 20 - std::clamp(std::ilogb(largest), -100, 100)));
}

// The mean of V: differences from it lose no digits where V has an offset.
at::Tensor centre(const at::Tensor& v) {
    return v.mean(1).nan_to_num_(0, 0, 0);
}

// dK is what is left of two sums that cancel where almost every target listens to one source. It is
// trusted if finite and not below a fiftieth of its parts (float32: 2e-5 of it); a twentieth where
// several channels share a key, whose sum cancels once more.
bool is_trusted(const Norms& norms, const Gradients& g, bool shared) {
    bool finite = std::isfinite(norms.left) && std::isfinite(norms.part);
    for (const at::Tensor& x : {g.w, g.u, g.r})
        if (x.defined()) finite = finite && x.mul(0).sum().item<double>() == 0;
    return finite && std::sqrt(norms.left) >= (shared ? 0.05 : 0.02) * std::sqrt(norms.part);
}

Norms simple_gradient(const Call& call, const at::Tensor& states, const at::Tensor& dy,
                      const Gradients& g) {
    return scan_gradient(call.scan(), {.forward = {.q = pointer(call.in.q),
                                                   .k = pointer(call.in.k),
                                                   .v = pointer(call.in.v),
                                                   .states = states.data_ptr<float>()},
                                       .dy = pointer(dy),
                                       .dq = writable(g.q),
                                       .dk = writable(g.k),
                                       .dv = writable(g.v)});
}

Norms banded_gradient(const Call& call, const Result& kept, const at::Tensor& dy, Gradients& g) {
    const Inputs& in = call.in;
    if (in.w.defined()) g.w = at::zeros({in.v.size(1), in.v.size(1)}, in.w.options());
    if (in.u.defined()) {
        g.u = at::empty_like(in.u);
        g.r = at::empty_like(in.r);
    }
    const at::Tensor mean = centre(in.v);
    return band_gradient(call.band(), {.q = pointer(in.q),
                                       .k = pointer(in.k),
                                       .v = pointer(in.v),
                                       .dy = pointer(dy),
                                       .average = pointer(kept.average),
                                       .denominator = pointer(kept.denominator),
                                       .mean = pointer(mean),
                                       .scale = scale_of(dy),
                                       .dq = writable(g.q),
                                       .dk = writable(g.k),
                                       .dv = writable(g.v),
                                       .dw = writable(g.w),
                                       .du = writable(g.u),
                                       .dr = writable(g.r)});
}

Norms conv_gradient(const Call& call, const Result& kept, const at::Tensor& dy, Gradients& g) {
    const Inputs& in = call.in;
    g.w = at::empty_like(in.w);
    const at::Tensor mean = centre(in.v);
    return conv_gradient(call.conv(), {.q = pointer(in.q),
                                       .k = pointer(in.k),
                                       .v = pointer(in.v),
                                       .w = pointer(in.w),
                                       .dy = pointer(dy),
                                       .average = pointer(kept.average),
                                       .denominator = pointer(kept.denominator),
                                       .mean = pointer(mean),
                                       .scale = scale_of(dy),
                                       .dq = writable(g.q),
                                       .dk = writable(g.k),
                                       .dv = writable(g.v),
                                       .dw = writable(g.w)});
}

void add(at::Tensor& to, const at::Tensor& x) {
    if (to.defined()) to.add_(x);
}

Gradients differentiate(const Call& call, const Result& kept, const at::Tensor& dy) {
    const Inputs& in = call.in;
    Gradients g;
    g.k = room_like(in.k);
    g.v = room_like(in.v);
    if (in.q.defined()) g.q = room_like(in.q);
    Norms norms{.left = 0, .part = 1};  // not to be trusted
    if (call.is_conv())
        norms = conv_gradient(call, kept, dy, g);
    else if (!call.is_simple())
        norms = banded_gradient(call, kept, dy, g);
    else if (!kept.average.defined())
        norms = simple_gradient(call, kept.states, dy, g);
    else if (g.q.defined())
        g.q = dy * kept.average * in.q.sigmoid() * (1 - in.q.sigmoid());
    const tiled::Wanted wanted{call.kind, in, call.options};
    // Of so few weights that of a row can cancel in the sum over channels: seen at T = 2, 2.6e-5.
    constexpr int64_t kFew = 4;
    const bool cancels = g.u.defined() && in.v.size(1) <= kFew;
    if (cancels || !is_trusted(norms, g, call.is_conv())) {
        const tiled::InputGradients x = tiled::gradient_in_double(wanted, gated(dy, in.q));
        return {g.q, x.k, x.v, x.w, x.u, x.r};
    }
    if (call.is_simple() || kept.denominator.amin().item<float>() >= 0) return g;
    const tiled::InputGradients x =
        tiled::flagged_gradient(wanted, {kept.average, kept.denominator}, gated(dy, in.q));
    add(g.k, x.k);
    add(g.v, x.v);
    add(g.w, x.w);
    add(g.u, x.u);
    add(g.r, x.r);
    return g;
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
    if (in.v.scalar_type() != at::kFloat) return "it computes in float32 only";
    if (kind == Kind::softmax || kind == Kind::linear) return "it has kernels for AFT only";
    return nullptr;
}

const char* instruction_set() {
    return chosen_set().data();
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
