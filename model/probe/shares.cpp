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

ShareRows layer_rows(const ProbeContext& context, const ProbeRequest& request,
                     const LayerTaps& taps, const std::string& part) {
    const ModelConfig& model = context.net.config();
    const MixerTraits traits = mixer_traits(model);
    const int64_t T = taps.tokens();
    ShareRows out;
    out.visible = visible_sources(model.causal(), request.position, T);
    at::Tensor bias;
    if (traits.has_bias()) {
        const BiasTable table(context.net, request.layer);
        const BiasRows row = table.rows(request.position, request.position + 1);
        out.visible = row.visible[0].slice(0, 0, T);
        if (part != "content") bias = row.values.select(1, 0).slice(1, 0, T);
    }
    const AttentionLogits rows = context.net.mixer(request.layer)
                                     .attention_rows({.taps = taps,
                                                      .target = request.position,
                                                      .content = part != "prior",
                                                      .bias = bias});
    out.logits = rows.logits;
    out.gate = rows.gate;
    out.axis = rows.axis;
    return out;
}

// Keeps one channel, or the channels of one head.
at::Tensor chosen(const ModelConfig& model, const ProbeRequest& request, int64_t rows) {
    at::Tensor index = at::arange(rows, at::kLong);
    if (request.channel >= 0) {
        check_range("channel", request.channel, rows);
        return index.slice(0, request.channel, request.channel + 1);
    }
    if (request.head >= 0) {
        const int64_t heads = mixer_traits(model).heads;
        check_range("head", request.head, heads);
        const int64_t width = rows / heads;
        return index.slice(0, request.head * width, (request.head + 1) * width);
    }
    return index;
}

}  // namespace

ShareRows share_rows(const ProbeContext& context, const ProbeRequest& request,
                     const std::string& part) {
    const MixerTraits traits = mixer_traits(context.net.config());
    if (!traits.has_attention) fail_usage("layer {}: {}", request.layer, traits.no_attention);
    if (part == "prior" && !traits.has_prior())
        fail_usage("{}: part=prior is empty", traits.no_bias);
    const LayerTaps& taps = context.kept.of(context.net, request.tokens, request.layer);
    check_range("position", request.position, taps.tokens());
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
