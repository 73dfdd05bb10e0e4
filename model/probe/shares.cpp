#include "model/probe/shares.h"

#include <ATen/ATen.h>

#include <cmath>

namespace aft::probe {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor visible_sources(bool causal, int64_t position, int64_t T) {
    const at::Tensor j = at::arange(T, at::kLong);
    return causal ? j <= position : at::ones({T}, at::kBool);
}

ShareRows softmax_rows(const Net& net, const LayerTaps& taps, int64_t t, const std::string& part) {
    if (part == "prior") fail_usage("softmax attention has no position bias: part=prior is empty");
    AFT_CHECK(taps.q.defined(), "this softmax layer does not show its queries");
    const int64_t heads = net.config().heads, T = taps.k.size(0), width = taps.k.size(1) / heads;
    const at::Tensor q = taps.q[t].to(at::kDouble).view({heads, width, 1});
    const at::Tensor k = taps.k.to(at::kDouble).view({T, heads, width}).transpose(0, 1);
    ShareRows out;
    out.logits = at::matmul(k, q).squeeze(2) / std::sqrt(static_cast<double>(width));
    out.visible = visible_sources(net.config().causal(), t, T);
    out.gate = at::ones({heads}, at::kDouble);
    out.axis = "head";
    return out;
}

ShareRows aft_rows(const Net& net, const LayerTaps& taps, const ProbeRequest& request,
                   const std::string& part) {
    const int64_t t = request.position, T = taps.k.size(0), channels = taps.v.size(1);
    ShareRows out;
    const at::Tensor k = taps.k.to(at::kDouble).t();  // [d or h, T]
    out.logits = part == "prior" ? at::zeros_like(k) : k.clone();
    out.visible = visible_sources(net.config().causal(), t, T);
    if (has_bias(net.mixer(request.layer).kind())) {
        const BiasTable table(net, request.layer);
        const BiasRows row = table.rows(t, t + 1);
        out.visible = row.visible[0].slice(0, 0, T);
        if (part != "content") out.logits += row.values.select(1, 0).slice(1, 0, T);
    }
    // A conv head serves the channels [i d/h, (i+1) d/h).
    out.logits = out.logits.repeat_interleave(channels / out.logits.size(0), 0);
    out.gate =
        taps.q.defined() ? taps.q[t].to(at::kDouble).sigmoid() : at::ones({channels}, at::kDouble);
    return out;
}

ShareRows layer_rows(const ProbeContext& context, const ProbeRequest& request,
                     const LayerTaps& taps, const std::string& part) {
    const ops::Kind kind = context.net.mixer(request.layer).kind();
    if (kind == ops::Kind::softmax) return softmax_rows(context.net, taps, request.position, part);
    if (kind == ops::Kind::linear)
        fail_usage("layer {} is linear attention: it has no implicit attention per channel",
                   request.layer);
    return aft_rows(context.net, taps, request, part);
}

// Keeps one channel, or the channels of one head.
at::Tensor chosen(const ModelConfig& model, const ProbeRequest& request, int64_t rows) {
    at::Tensor index = at::arange(rows, at::kLong);
    if (request.channel >= 0) {
        check_range("channel", request.channel, rows);
        return index.slice(0, request.channel, request.channel + 1);
    }
    if (request.head >= 0) {
        check_range("head", request.head, model.heads);
        const int64_t width = rows / model.heads;
        return index.slice(0, request.head * width, (request.head + 1) * width);
    }
    return index;
}

}  // namespace

ShareRows share_rows(const ProbeContext& context, const ProbeRequest& request,
                     const std::string& part) {
    const LayerTaps& taps = context.kept.of(context.net, request.tokens, request.layer);
    check_range("position", request.position, taps.k.size(0));
    ShareRows rows = layer_rows(context, request, taps, part);
    rows.index = chosen(context.net.config(), request, rows.logits.size(0));
    const at::Tensor logits = rows.logits.index_select(0, rows.index);
    rows.gate = rows.gate.index_select(0, rows.index);
    rows.shares = at::softmax(at::where(rows.visible, logits, -kInfinity), 1);
    return rows;
}

at::Tensor reduced(const ShareRows& rows, const std::string& how) {
    if (how == "mean") return rows.shares.mean(0, true);
    if (how == "gate") return at::matmul(rows.gate.unsqueeze(0), rows.shares) / rows.gate.sum();
    return rows.shares;
}

}  // namespace aft::probe
