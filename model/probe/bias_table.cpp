// Rows of the effective bias: the only place where probes multiply factors out or unroll a kernel.
#include <ATen/ATen.h>

#include "model/probe/parts.h"

namespace aft::probe {

namespace {

at::Tensor on_cpu(const at::Tensor& x) {
    return x.defined() ? x.detach().to(at::kCPU) : x;
}

// Usage Error for mixers without a position bias.
StoredBias stored_bias_of(const Net& net, int64_t layer) {
    const ModelConfig& model = net.config();
    if (const MixerTraits traits = mixer_traits(model, layer); !traits.has_bias())
        fail_usage("layer {} is {}: {}", layer, model.mixer, traits.no_bias);
    return net.mixer(layer).stored_bias(model.tokens());
}

// w = -inf: the source is hidden from its target.
void hide_masked(BiasRows& rows) {
    const at::Tensor masked = rows.values.eq(-std::numeric_limits<double>::infinity());
    if (masked.any().item<bool>()) rows.visible = rows.visible & masked.logical_not();
}

}  // namespace

at::Tensor BiasRows::visible_of(int64_t head) const {
    return visible.dim() == 3 ? visible.select(0, head) : visible;
}

BiasTable::BiasTable(const ModelConfig& model, const StoredBias& stored, int64_t layer)
    : traits_(mixer_traits(model, layer)),
      u_(on_cpu(stored.u)),
      r_(on_cpu(stored.r)),
      tokens_(model.tokens()),
      width_(model.grid_width()),
      is_causal_(model.causal()) {
    if (static_cast<size_t>(layer) < model.maps.layers.size()) {
        const MapLayer& map = model.maps.layers[static_cast<size_t>(layer)];
        tokens_ = map.tokens();
        width_ = map.columns();
    }
    take(stored.w);
}

void BiasTable::take(const at::Tensor& w) {
    w_ = on_cpu(w);
    has_heads_ = w_.defined() && (traits_.has_kernel() || w_.dim() == 3);
    if (has_heads_) heads_ = w_.size(0);
    if (w_.defined() && !traits_.has_kernel() && w_.isneginf().any().item<bool>())
        traits_.has_masks = true;
}

BiasTable::BiasTable(const Net& net, int64_t layer)
    : BiasTable(net.config(), stored_bias_of(net, layer), layer) {
    if (w_.defined() || u_.defined()) return;
    const std::optional<at::Tensor> w = net.mixer(layer).bias(tokens_);
    AFT_CHECK(w.has_value(), "layer {} ({}) does not show its position bias", layer,
              net.config().mixer);
    take(*w);
}

// Place of source j in the kernel of target t, flattened; the number of taps where it is outside.
at::Tensor BiasTable::kernel_index(const at::Tensor& t, const at::Tensor& j) const {
    const int64_t s = w_.size(1);
    if (traits_.bias == BiasLayout::kernel_1d) {
        const at::Tensor tap = j - t + (is_causal_ && !traits_.is_centred ? s - 1 : s / 2);
        return at::where((tap >= 0) & (tap < s), tap, s);
    }
    const auto row = [&](const at::Tensor& x) { return at::floor_divide(x, width_); };
    const at::Tensor a = row(j) - row(t) + s / 2;
    const at::Tensor b = j.remainder(width_) - t.remainder(width_) + s / 2;
    return at::where((a >= 0) & (a < s) & (b >= 0) & (b < s), a * s + b, s * s);
}

void BiasTable::fill_offsets(const at::Tensor& t, const at::Tensor& j, BiasRows& out) const {
    const int64_t s = w_.size(2), first = t[0].item<int64_t>(), n = t.size(0);
    const at::Tensor entry = j - t + s / 2;
    out.inside = (entry >= 0) & (entry < s);
    const at::Tensor place = entry.clamp(0, s - 1).unsqueeze(0).expand({heads_, -1, -1});
    const at::Tensor of_rows = w_.slice(1, first, first + n).to(at::kDouble);
    out.values = at::where(out.inside, of_rows.gather(2, place), 0.0);
}

BiasRows BiasTable::rows(int64_t first, int64_t end) const {
    const at::Tensor t = at::arange(first, end, at::kLong).unsqueeze(1);
    const at::Tensor j = at::arange(tokens_, at::kLong).unsqueeze(0);
    const int64_t n = end - first, m = tokens_;
    BiasRows out;
    out.visible = is_causal_ ? (j <= t) : at::ones({n, m}, at::kBool);
    if (traits_.has_kernel()) {
        const at::Tensor flat = w_.flatten(1).to(at::kDouble);
        const at::Tensor padded = at::cat({flat, at::zeros({heads_, 1}, at::kDouble)}, 1);
        const at::Tensor index = kernel_index(t, j);
        out.inside = index < flat.size(1);
        out.values = padded.index_select(1, index.flatten()).view({heads_, n, m});
        if (traits_.outside_hidden) out.visible = out.visible & out.inside;
        if (traits_.has_masks) hide_masked(out);
        return out;
    }
    if (traits_.is_centred && traits_.bias == BiasLayout::band) {
        fill_offsets(t, j, out);
        hide_masked(out);
        return out;
    }
    if (u_.defined()) {
        const at::Tensor u = u_.slice(0, first, end).to(at::kDouble);
        out.values = at::matmul(u, r_.to(at::kDouble).t()).unsqueeze(0);
    } else {
        out.values = (has_heads_ ? w_ : w_.unsqueeze(0)).slice(1, first, end).to(at::kDouble);
    }
    out.inside = at::ones({n, m}, at::kBool);
    if (traits_.window > 0) {
        out.inside = (t - j).abs() < traits_.window;
        if (traits_.outside_hidden) out.visible = out.visible & out.inside;
        out.values = at::where(out.inside, out.values, 0.0);
    }
    if (traits_.has_masks) hide_masked(out);
    return out;
}

at::Tensor fix_gauge(BiasRows& rows) {
    const at::Tensor free =
        (rows.visible & ~rows.inside).any(-1).logical_not() & rows.visible.any(-1);
    const at::Tensor seen =
        at::where(rows.visible, rows.values, -std::numeric_limits<double>::infinity());
    const at::Tensor mean = at::logsumexp(seen, {2}, true) -
                            rows.visible.sum(-1, true).clamp_min(1).to(at::kDouble).log();
    const at::Tensor shifted = rows.inside & free.unsqueeze(-1);
    rows.values = at::where(shifted, rows.values - mean, rows.values);
    return free;
}

}  // namespace aft::probe
