#include "model/mixers/aft_layer.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/fused_branch.h"
#include "model/nn/fused.h"

namespace aft {

AftLayer::AftLayer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix,
                   int64_t key_channels)
    : config_(config), projections_(make_projections(maker, config, prefix, key_channels)) {}

MixerTraits aft_traits(const ModelConfig& config) {
    const auto settings = config.own.read<MixerSettings>();
    MixerTraits traits;
    traits.heads = settings.heads;
    traits.has_gate = settings.query_gate;
    if (!traits.has_gate) traits.no_gate = "This model has no gate (model.query_gate is off)";
    traits.has_attention = traits.has_key_maps = true;
    traits.decoder = DecoderKind::streaming;
    traits.words = config.mixer;
    return traits;
}

AttentionLogits AftLayer::attention_rows(const AttentionRequest& request) const {
    const LayerTaps& taps = request.taps;
    const int64_t channels = taps.v.size(1);
    const at::Tensor k = key_maps(taps);
    AttentionLogits out;
    out.logits = request.content ? k.clone() : at::zeros_like(k);
    if (request.bias.defined()) out.logits += request.bias;
    // A conv head serves the channels [i d/h, (i+1) d/h).
    out.logits = out.logits.repeat_interleave(channels / out.logits.size(0), 0);
    out.gate = taps.q.defined() ? taps.q[request.target].to(at::kDouble).sigmoid()
                                : at::ones({channels}, at::kDouble);
    return out;
}

at::Tensor AftLayer::key_maps(const LayerTaps& taps) const {
    return taps.k.to(at::kDouble).t();
}

at::Tensor AftLayer::gates(const LayerTaps& taps) const {
    return taps.q.to(at::kDouble).sigmoid();
}

ops::Options AftLayer::options(const MixContext& context) const {
    ops::Options options;
    options.causal = config_.causal();
    options.backend = context.backend;
    return options;
}

ops::Inputs AftLayer::inputs(const Projected& of, const MixContext& context) const {
    ops::Inputs in = bias_inputs_in(of.v.size(1), context);
    in.q = of.q;
    in.k = of.k;
    in.v = of.v;
    return in;
}

at::Tensor AftLayer::mix(const Projected& of, const MixContext& context) const {
    const ops::Inputs in = inputs(of, context);
    show(context, "q", in.q);
    show(context, "k", in.k);
    show(context, "v", in.v);
    const at::Tensor y = ops::apply(kind(), in, options(context));
    show(context, "mix", y);
    return y;
}

at::Tensor AftLayer::forward(const at::Tensor& x, const MixContext& context) const {
    Projected of{.x = x, .q = {}, .k = projections_.k(x), .v = projections_.v(x)};
    if (projections_.q) of.q = (*projections_.q)(x);
    return projections_.out(mix(of, context));
}

at::Tensor AftLayer::add_to(const at::Tensor& x, const Norm& norm, const MixContext& context,
                            const BranchEnd& end) const {
    if (!can_fuse(x)) return Mixer::add_to(x, norm, context, end);
    const Projected of = projections_.of_normed(x, norm, end.arithmetic);
    if (context.tap == nullptr && projections_.o) {
        const BranchMaps maps{.norm = &norm,
                              .q = projections_.q ? &*projections_.q : nullptr,
                              .k = &projections_.k,
                              .v = &projections_.v,
                              .o = &*projections_.o};
        const BranchOperator op{kind(), inputs(of, context), options(context)};
        if (const auto y = add_operator(of.x, maps, op, end)) return *y;
    }
    return projections_.add_out(of.x, mix(of, context), end);
}

std::unique_ptr<MixerState> AftLayer::start(int64_t batch) const {
    AFT_ASSERT(config_.causal());
    StreamShape shape = stream();
    const int64_t keys = projections_.k.weight.size(0);
    shape.batch = batch;
    shape.key_channels = keys / shape.groups;
    shape.value_channels = config_.inner_width() / shape.groups;
    shape.device = projections_.k.weight.device();
    return std::make_unique<StreamState>(shape);
}

at::Tensor AftLayer::step(const at::Tensor& x, MixerState& state) const {
    auto& stream_state = dynamic_cast<StreamState&>(state);
    const int64_t t = state.position;
    const StreamShape shape = stream();
    const int64_t n = shape.growing ? t + 1 : std::min(t + 1, shape.history);
    const at::Tensor row = n > 0 ? stream_row(t, n) : at::Tensor();
    at::Tensor y = stream_state.take(projections_.k(x), projections_.v(x), row).to(x.scalar_type());
    if (projections_.q) y = at::sigmoid((*projections_.q)(x)) * y;
    return projections_.out(y);
}

at::Tensor AftLayer::stream_row(int64_t, int64_t) const {
    AFT_ASSERT(false);
    return {};
}

ops::Inputs LearnedBias::inputs(int64_t T) const {
    const int64_t table = w.defined() ? w.size(0) : u.size(0);
    if (T > table)
        fail_usage("the sequence has {} tokens, the position bias of the model only {}", T, table);
    ops::Inputs in;
    if (w.defined()) {
        in.w = T == table ? w : w.narrow(0, 0, T).narrow(1, 0, T);
    } else {
        in.u = T == table ? u : u.narrow(0, 0, T);
        in.r = T == table ? r : r.narrow(0, 0, T);
    }
    return in;
}

StoredBias LearnedBias::stored(int64_t T, int64_t window) const {
    const ops::Inputs in = inputs(T);
    return {.w = in.w, .u = in.u, .r = in.r, .window = window};
}

at::Tensor LearnedBias::dense(int64_t T) const {
    const ops::Inputs in = inputs(T);
    return (in.w.defined() ? in.w : at::matmul(in.u, in.r.t())).detach();
}

at::Tensor LearnedBias::row(int64_t t, int64_t n) const {
    const int64_t first = t - n + 1;
    if (w.defined()) return w.select(0, t).narrow(0, first, n).to(at::kDouble).unsqueeze(0);
    return at::mv(r.narrow(0, first, n).to(at::kDouble), u.select(0, t).to(at::kDouble))
        .unsqueeze(0);
}

LearnedBias make_learned_bias(const ModelConfig& config, ParameterMaker& maker,
                              const std::string& prefix) {
    const int64_t T = config.tokens();
    const auto settings = config.own.read<BiasTableSettings>();
    LearnedBias table;
    if (settings.factors == 0) {
        table.w =
            maker.normal(prefix + "w", {T, T}, settings.bias_std, ParameterGroup::position_bias);
    } else {
        const std::vector<int64_t> shape{T, settings.factors};
        table.u =
            maker.normal(prefix + "u", shape, settings.factor_std, ParameterGroup::position_bias);
        table.r =
            maker.normal(prefix + "r", shape, settings.factor_std, ParameterGroup::position_bias);
    }
    return table;
}

LearnedBias given_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) {
    LearnedBias table;
    table.w = maker.given(prefix + "w", w, ParameterGroup::position_bias);
    return table;
}

double learned_bias_values(const ModelConfig& config) {
    const auto T = static_cast<double>(config.tokens());
    const auto factors = static_cast<double>(config.own.read<BiasTableSettings>().factors);
    return factors > 0 ? 2 * T * factors : T * T;
}

std::vector<IdleSetting> idle_of_learned_bias(const ModelConfig& config) {
    const int64_t factors = config.own.read<BiasTableSettings>().factors;
    const std::string now = fmt::format("model.factors={}", factors);
    if (factors > 0) return {{"model.bias_std", now, "model.factors=0"}};
    return {{"model.factor_std", now, "model.factors above 0"}};
}

}  // namespace aft
