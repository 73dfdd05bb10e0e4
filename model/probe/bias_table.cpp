// Rows of the effective bias: the only place where probes multiply factors out or unroll a kernel.
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft::probe {

bool has_bias(ops::Kind kind) {
    return kind == ops::Kind::full || kind == ops::Kind::local || kind == ops::Kind::conv1d ||
           kind == ops::Kind::conv2d;
}

BiasTable::BiasTable(const Net& net, int64_t layer) {
    const Mixer& mixer = net.mixer(layer);
    kind_ = mixer.kind();
    if (!has_bias(kind_))
        fail_usage("layer {} is {}: it has no position bias", layer, net.config().mixer);
    tokens_ = net.config().tokens();
    options_ = mixer.options(mix_context(net.config()));
    const ops::Inputs inputs = mixer.bias_inputs(tokens_);
    const auto plain = [](const at::Tensor& x) {
        return x.defined() ? x.detach().to(at::kCPU, at::kDouble) : x;
    };
    w_ = plain(inputs.w);
    u_ = plain(inputs.u);
    r_ = plain(inputs.r);
    if (has_heads()) heads_ = w_.size(0);
}

bool BiasTable::has_heads() const {
    return kind_ == ops::Kind::conv1d || kind_ == ops::Kind::conv2d;
}

// Place of source j in the kernel of target t, flattened; the number of taps where it is outside.
at::Tensor BiasTable::kernel_index(const at::Tensor& t, const at::Tensor& j) const {
    const int64_t s = w_.size(1);
    if (kind_ == ops::Kind::conv1d) {
        const at::Tensor tap = j - t + (options_.causal ? s - 1 : s / 2);
        return at::where((tap >= 0) & (tap < s), tap, s);
    }
    const int64_t width = options_.grid_width;
    const auto row = [&](const at::Tensor& x) { return at::floor_divide(x, width); };
    const at::Tensor a = row(j) - row(t) + s / 2;
    const at::Tensor b = j.remainder(width) - t.remainder(width) + s / 2;
    return at::where((a >= 0) & (a < s) & (b >= 0) & (b < s), a * s + b, s * s);
}

BiasRows BiasTable::rows(int64_t first, int64_t end) const {
    const at::Tensor t = at::arange(first, end, at::kLong).unsqueeze(1);
    const at::Tensor j = at::arange(tokens_, at::kLong).unsqueeze(0);
    const int64_t n = end - first, m = tokens_;
    BiasRows out;
    out.visible = options_.causal ? (j <= t) : at::ones({n, m}, at::kBool);
    if (has_heads()) {
        const at::Tensor flat = w_.flatten(1);
        const at::Tensor padded = at::cat({flat, at::zeros({heads_, 1}, at::kDouble)}, 1);
        const at::Tensor index = kernel_index(t, j);
        out.inside = index < flat.size(1);
        out.values = padded.index_select(1, index.flatten()).view({heads_, n, m});
        return out;
    }
    if (u_.defined()) {
        out.values = at::matmul(u_.slice(0, first, end), r_.t());
    } else {
        out.values = w_.slice(0, first, end).clone();
    }
    out.values = out.values.unsqueeze(0);
    out.inside = at::ones({n, m}, at::kBool);
    if (kind_ == ops::Kind::local) {
        out.inside = (t - j).abs() < options_.window;
        if (options_.outside_hidden) out.visible = out.visible & out.inside;
        out.values = at::where(out.inside, out.values, 0.0);
    }
    return out;
}

at::Tensor fix_gauge(BiasRows& rows, ops::Kind kind) {
    const int64_t n = rows.visible.size(0);
    if (kind != ops::Kind::full && kind != ops::Kind::local) return at::zeros({n}, at::kBool);
    const at::Tensor free =
        (rows.visible & ~rows.inside).any(1).logical_not() & rows.visible.any(1);
    const at::Tensor seen =
        at::where(rows.visible, rows.values, -std::numeric_limits<double>::infinity());
    const at::Tensor mean = at::logsumexp(seen, {2}, true) -
                            rows.visible.sum(1, true).clamp_min(1).to(at::kDouble).log();
    const at::Tensor shifted = rows.inside & free.unsqueeze(1);
    rows.values = at::where(shifted, rows.values - mean, rows.values);
    return free;
}

}  // namespace aft::probe
