// attention: the implicit attention of one target t (Zhai et al. 2021, Eq. 3 without its gate),
//   a[t,j,c] = exp(K[j,c] + w[t,j]) / sum_j' exp(K[j',c] + w[t,j'])     rows sum to 1,
// [d, T] for all channels, or their mean. prior: K = 0, content: w = 0. For softmax attention one
// row per head. Cost O(T d) beside one forward pass, which is kept for the next target.
#include <ATen/ATen.h>

#include <cmath>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom attention_probe();

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Rows {
    at::Tensor logits;   // [rows, T], float64
    at::Tensor visible;  // [T], bool
    at::Tensor gate;     // [rows], sigmoid(Q) at t; 1 without a gate
    const char* axis = "channel";
};

at::Tensor visible_sources(bool causal, int64_t position, int64_t T) {
    const at::Tensor j = at::arange(T, at::kLong);
    return causal ? j <= position : at::ones({T}, at::kBool);
}

Rows softmax_rows(const Net& net, const LayerTaps& taps, int64_t t, const std::string& part) {
    if (part == "prior") fail_usage("softmax attention has no position bias: part=prior is empty");
    AFT_CHECK(taps.q.defined(), "this softmax layer does not show its queries");
    const int64_t heads = net.config().heads, T = taps.k.size(0), width = taps.k.size(1) / heads;
    const at::Tensor q = taps.q[t].to(at::kDouble).view({heads, width, 1});
    const at::Tensor k = taps.k.to(at::kDouble).view({T, heads, width}).transpose(0, 1);
    Rows out;
    out.logits = at::matmul(k, q).squeeze(2) / std::sqrt(static_cast<double>(width));
    out.visible = visible_sources(net.config().causal(), t, T);
    out.gate = at::ones({heads}, at::kDouble);
    out.axis = "head";
    return out;
}

Rows aft_rows(const Net& net, const LayerTaps& taps, const ProbeRequest& request,
              const std::string& part) {
    const int64_t t = request.position, T = taps.k.size(0), channels = taps.v.size(1);
    Rows out;
    const at::Tensor k = taps.k.to(at::kDouble).t();  // [d or h, T]
    out.logits = part == "prior" ? at::zeros_like(k) : k.clone();
    out.visible = visible_sources(net.config().causal(), t, T);
    if (probe::has_bias(net.mixer(request.layer).kind())) {
        const probe::BiasTable table(net, request.layer);
        const probe::BiasRows row = table.rows(t, t + 1);
        out.visible = row.visible[0].slice(0, 0, T);
        if (part != "content") out.logits += row.values.select(1, 0).slice(1, 0, T);
    }
    // A conv head serves the channels [i d/h, (i+1) d/h).
    out.logits = out.logits.repeat_interleave(channels / out.logits.size(0), 0);
    out.gate =
        taps.q.defined() ? taps.q[t].to(at::kDouble).sigmoid() : at::ones({channels}, at::kDouble);
    return out;
}

Rows make_rows(const ProbeContext& context, const ProbeRequest& request, const LayerTaps& taps,
               const std::string& part) {
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
        probe::check_range("channel", request.channel, rows);
        return index.slice(0, request.channel, request.channel + 1);
    }
    if (request.head >= 0) {
        probe::check_range("head", request.head, model.heads);
        const int64_t width = rows / model.heads;
        return index.slice(0, request.head * width, (request.head + 1) * width);
    }
    return index;
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const ProbeRoom room = attention_probe();
    const std::string part = probe::option(room, request, "part");
    const std::string reduce = probe::option(room, request, "reduce");
    const bool mark = probe::option(room, request, "visible") == "nan";
    const LayerTaps& taps = context.kept.of(context.net, request.tokens, request.layer);
    probe::check_range("position", request.position, taps.k.size(0));
    const Rows rows = make_rows(context, request, taps, part);
    const at::Tensor index = chosen(context.net.config(), request, rows.logits.size(0));
    const at::Tensor logits = rows.logits.index_select(0, index);
    const at::Tensor gate = rows.gate.index_select(0, index);

    const at::Tensor a = at::softmax(at::where(rows.visible, logits, -kInfinity), 1);
    const at::Tensor entropy = -at::xlogy(a, a).sum(1) / std::log(2.0);
    const double most = std::log2(static_cast<double>(rows.visible.sum().item<int64_t>()));
    const at::Tensor sharpness =
        most > 0 ? (1 - entropy / most).clamp(0, 1) : at::ones_like(entropy);
    at::Tensor shown = a;
    if (reduce == "mean") shown = a.mean(0, true);
    if (reduce == "gate") shown = at::matmul(gate.unsqueeze(0), a) / gate.sum();
    if (mark) shown = at::where(rows.visible, shown, std::nan(""));

    const std::map<std::string, std::string> notes{
        {"part", part}, {"reduce", reduce}, {"position", std::to_string(request.position)}};
    const auto field = [&](const char* name, const at::Tensor& values, const char* unit,
                           std::vector<std::string> axes) {
        return probe::make_field(values, {name, unit, std::move(axes), notes}, context.step);
    };
    return {{field("attention", shown, "share", {rows.axis, "source"}),
             field("gate", gate, "", {rows.axis}), field("entropy", entropy, "bits", {rows.axis}),
             field("sharpness", sharpness, "", {rows.axis}),
             field("channel", index, "", {rows.axis})}};
}

}  // namespace

ProbeRoom attention_probe() {
    return {
        {"attention", "implicit attention of one target over its sources, per channel"},
        {"part=prior|content|both (both)", "reduce=none|mean|gate (none)", "visible=all|nan (all)"},
        true,
        run};
}

}  // namespace aft
