#include "model/mixers/attention_layer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "model/nn/attention.h"
#include "model/nn/fused.h"

namespace aft {

MixerTraits attention_traits(const ModelConfig& config) {
    MixerTraits traits;
    traits.bias = BiasLayout::attention;
    traits.heads = config.own.read<MixerSettings>().heads;
    traits.has_attention = true;
    traits.decoder = DecoderKind::streaming;
    traits.words = config.mixer;
    traits.no_bias = fmt::format("{} has no position bias of AFT's kind", config.mixer);
    traits.no_gate = fmt::format("{} has no gate", config.mixer);
    traits.no_keys = fmt::format("{} has no map exp(K) that holds for every target", config.mixer);
    return traits;
}

void check_attention(const ModelConfig& config) {
    check_heads_divide(config);
    if (!config.own.read<MixerSettings>().query_gate)
        fail_usage("model.query_gate=false: {} needs its queries; only AFT can do without",
                   config.mixer);
}

AttentionLayer::AttentionLayer(const ModelConfig& config, ParameterMaker& maker,
                               const std::string& prefix)
    : config_(config),
      heads_(config.own.read<MixerSettings>().heads),
      projections_(make_projections(maker, config, prefix, config.inner_width())) {}

at::Tensor AttentionLayer::forward(const at::Tensor& x, const MixContext& context) const {
    const Projected of{
        .x = x, .q = (*projections_.q)(x), .k = projections_.k(x), .v = projections_.v(x)};
    return projections_.out(mix(of, context));
}

at::Tensor AttentionLayer::add_to(const at::Tensor& x, const Norm& norm, const MixContext& context,
                                  const BranchEnd& end) const {
    if (!can_fuse(x)) return Mixer::add_to(x, norm, context, end);
    const Projected of = projections_.of_normed(x, norm, end.arithmetic);
    return projections_.add_out(of.x, mix(of, context), end);
}

at::Tensor AttentionLayer::mix(const Projected& of, const MixContext& context) const {
    show(context, "q", of.q);
    show(context, "k", of.k);
    show(context, "v", of.v);
    const at::Tensor y = attend({.q = split(of.q), .k = split(of.k), .v = split(of.v)})
                             .transpose(1, 2)
                             .reshape(of.v.sizes());
    show(context, "mix", y);
    return y;
}

at::Tensor AttentionLayer::split(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
}

Heads AttentionLayer::project(const at::Tensor& x) const {
    return {.q = split((*projections_.q)(x)),
            .k = split(projections_.k(x)),
            .v = split(projections_.v(x))};
}

at::Tensor AttentionLayer::join(const at::Tensor& heads) const {
    return projections_.out(heads.transpose(1, 2).flatten(2));
}

at::Tensor AttentionLayer::hidden(int64_t, int64_t T) const {
    return at::zeros({T}, at::kBool);
}

AttentionLogits AttentionLayer::attention_rows(const AttentionRequest& request) const {
    const LayerTaps& taps = request.taps;
    const int64_t T = taps.k.size(0), width = taps.k.size(1) / heads_;
    const at::Tensor q = taps.q[request.target].to(at::kDouble).view({heads_, width, 1});
    const at::Tensor k = taps.k.to(at::kDouble).view({T, heads_, width}).transpose(0, 1);
    const at::Tensor logits = at::matmul(k, q).squeeze(2) / std::sqrt(static_cast<double>(width));
    return {.logits = logits.masked_fill(hidden(request.target, T),
                                         -std::numeric_limits<double>::infinity()),
            .gate = at::ones({heads_}, at::kDouble),
            .axis = "head"};
}

TokenRows::TokenRows(int64_t batch, int64_t heads, int64_t width,
                     const at::TensorOptions& options) {
    constexpr int64_t kFirstCapacity = 64;
    rows_ = at::zeros({batch, heads, kFirstCapacity, width}, options);
}

TokenRows TokenRows::clone() const {
    TokenRows copy = *this;
    copy.rows_ = rows_.clone();
    return copy;
}

void TokenRows::select(const at::Tensor& examples) {
    rows_ = rows_.index_select(0, examples);
}

void TokenRows::append(const at::Tensor& row, int64_t position) {
    if (position == rows_.size(2)) rows_ = at::cat({rows_, at::zeros_like(rows_)}, 2);
    rows_.narrow(2, position, 1).copy_(row);
}

at::Tensor TokenRows::first(int64_t count) const {
    return rows_.narrow(2, 0, count);
}

KeyValueCache::KeyValueCache(int64_t batch, int64_t heads, int64_t width,
                             const at::TensorOptions& options)
    : k_(batch, heads, width, options), v_(batch, heads, width, options) {}

std::unique_ptr<MixerState> KeyValueCache::clone() const {
    auto copy = std::make_unique<KeyValueCache>(*this);
    copy->k_ = k_.clone();
    copy->v_ = v_.clone();
    return copy;
}

void KeyValueCache::select(const at::Tensor& rows) {
    k_.select(rows);
    v_.select(rows);
}

void KeyValueCache::append(const at::Tensor& new_k, const at::Tensor& new_v) {
    k_.append(new_k, position);
    v_.append(new_v, position);
    ++position;
}

at::Tensor KeyValueCache::keys() const {
    return k_.first(position);
}

at::Tensor KeyValueCache::values() const {
    return v_.first(position);
}

std::unique_ptr<KeyValueCache> AttentionLayer::cache(int64_t batch) const {
    return std::make_unique<KeyValueCache>(batch, heads_, config_.inner_width() / heads_,
                                           options());
}

std::unique_ptr<MixerState> SparseAttention::start(int64_t batch) const {
    return cache(batch);
}

at::Tensor SparseAttention::step(const at::Tensor& x, MixerState& state) const {
    auto& cache = dynamic_cast<KeyValueCache&>(state);
    const Heads token = project(x.unsqueeze(1));
    cache.append(token.k, token.v);
    const at::Tensor seen = hidden(cache.position - 1, cache.position)
                                .logical_not()
                                .nonzero()
                                .squeeze(1)
                                .to(token.k.device());
    const at::Tensor y = at::scaled_dot_product_attention(
        token.q, cache.keys().index_select(2, seen), cache.values().index_select(2, seen));
    return join(y).squeeze(1);
}

at::Tensor SparseAttention::attend(const Heads& in) const {
    const int64_t B = in.v.size(0), h = in.v.size(1), T = in.v.size(2), width = in.v.size(3);
    const BlockPlan blocks = plan(T);
    const auto device = in.v.device();
    const int64_t n = blocks.targets.size(0), rows = blocks.targets.size(1);
    const auto take = [&](const at::Tensor& x, const at::Tensor& places) {
        return x.index_select(2, places.reshape({-1}).to(device)).view({B * h, n, -1, width});
    };
    // A filled-up row sees everything rather than nothing, or it would be no number.
    const at::Tensor any = blocks.visible.any(2, true);
    const at::Tensor mask = blocks.visible.logical_or(any.logical_not()).to(device);
    const at::Tensor y =
        nn::fused_attention(take(in.q, blocks.targets), take(in.k, blocks.sources),
                            take(in.v, blocks.sources), {.visible = mask.unsqueeze(0)});
    // Back into the order of the sequence: each target stands in one row that is not filling.
    const at::Tensor filled = any.reshape({-1}).nonzero().squeeze(1);
    const at::Tensor place =
        at::empty({T}, at::kLong)
            .index_put_({blocks.targets.reshape({-1}).index_select(0, filled)}, filled)
            .to(device);
    return y.reshape({B, h, n * rows, width}).index_select(2, place);
}

}  // namespace aft
