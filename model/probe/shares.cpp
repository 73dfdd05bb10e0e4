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

const LayerTaps& attended_taps(const ProbeContext& context, const ProbeRequest& request,
                               const std::string& part) {
    const MixerTraits traits = mixer_traits(context.net.config());
    if (!traits.has_attention) fail_usage("layer {}: {}", request.layer, traits.no_attention);
    if (part == "prior" && !traits.has_prior())
        fail_usage("{}: part=prior is empty", traits.no_bias);
    return context.kept.of(context.net, request.tokens, request.layer);
}

}  // namespace

LayerShares::LayerShares(const ProbeContext& context, const ProbeRequest& request, std::string part)
    : context_(context),
      request_(request),
      part_(std::move(part)),
      taps_(attended_taps(context, request, part_)) {
    if (mixer_traits(context.net.config()).has_bias()) table_.emplace(context.net, request.layer);
}

ShareRows LayerShares::at(int64_t target) const {
    const ModelConfig& model = context_.net.config();
    const int64_t T = tokens();
    check_range("position", target, T);
    ShareRows out;
    out.visible = visible_sources(model.causal(), target, T);
    at::Tensor bias;
    if (table_) {
        const BiasRows row = table_->rows(target, target + 1);
        out.visible = row.visible[0].slice(0, 0, T);
        if (part_ != "content") bias = row.values.select(1, 0).slice(1, 0, T);
    }
    const AttentionLogits rows =
        context_.net.mixer(request_.layer)
            .attention_rows(
                {.taps = taps_, .target = target, .content = part_ != "prior", .bias = bias});
    out.axis = rows.axis;
    out.logits = rows.logits;
    out.index = chosen(model, request_, rows.logits.size(0));
    out.gate = rows.gate.index_select(0, out.index);
    out.shares =
        at::softmax(at::where(out.visible, rows.logits.index_select(0, out.index), -kInfinity), 1);
    return out;
}

at::Tensor entropy_bits(const ShareRows& rows) {
    return -at::xlogy(rows.shares, rows.shares).sum(1) / std::log(2.0);
}

at::Tensor sharpness(const ShareRows& rows) {
    const at::Tensor entropy = entropy_bits(rows);
    const double most = std::log2(static_cast<double>(rows.visible.sum().item<int64_t>()));
    return most > 0 ? (1 - entropy / most).clamp(0, 1) : at::ones_like(entropy);
}

at::Tensor divergence_bits(const at::Tensor& rows, const at::Tensor& from) {
    const at::Tensor both = (rows > 0).logical_and(from > 0);
    const at::Tensor ratio = at::where(both, rows / from, at::ones_like(rows));
    return ((rows * ratio.log()).sum(1) / std::log(2.0)).clamp_min(0);
}

ShareRows share_rows(const ProbeContext& context, const ProbeRequest& request,
                     const std::string& part) {
    return LayerShares(context, request, part).at(request.position);
}

at::Tensor reduced(const ShareRows& rows, const std::string& how) {
    if (how == "mean") return rows.shares.mean(0, true);
    if (how == "gate") return at::matmul(rows.gate.unsqueeze(0), rows.shares) / rows.gate.sum();
    return rows.shares;
}

}  // namespace aft::probe
