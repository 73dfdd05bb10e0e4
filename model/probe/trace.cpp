// trace: from one target back to the input, through all layers. An approximation: attention rollout
// (Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3). It follows
// shares of attention, not values: what V, the MLPs and the norms do to them is left out.
//   r_L = one-hot at the target,   r_l = r_(l+1) M_l,   M_l = diag(s_l) + diag(1 - s_l) A_l
// A_l: the implicit attention of layer l, its channels averaged with the gate as weight (probe
// attention, reduce = gate). s_l [T]: what the residual connection carries past the mixer; half:
// 0.5, as in that paper; measured: |x| / (|x| + |branch|) at each position, after Kobayashi et al.
// 2021 ("Incorporating Residual and Normalization Layers into Analysis of Masked Language Models").
// Every row sums to 1, and nothing comes from the future.
// layers=alone follows nothing: r_l is the target's own row of A_l in every layer, no residual; the
// field "masked" has 1 where w = -inf hides a source from it, and is there only with such a source.
// Cost: vector times matrix, no [T, T] is kept. Where the keys are one map for all targets (AFT) a
// layer is two float64 products of T^2 d / 2 multiply-adds, in blocks of 16 MiB: with E = exp(K),
// W = exp(w), D = W E and gates g it is  r A = sum_c E[:,c] * (W^T (r g / D))[:,c];  a row whose D
// underflows is computed exactly. Else row by row, O(T d) each. The prior alone costs T^2 more.
// Beside it one forward pass for each 64 MiB of q, k, v (24 layers of 3072 tokens and 256 channels:
// 4 passes, 15 s on one core in all).
#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "model/probe/shares.h"

namespace aft {

ProbeRoom trace_probe();

namespace {

constexpr int64_t kStrongest = 12;                  // sources in the table of a row
constexpr int64_t kBlockValues = int64_t{1} << 21;  // of W, float64
constexpr double kLeastSum = 1e-280;                // below it terms of D may have underflowed

// One layer's matrix A, multiplied from the left.
class TracedLayer {
  public:
    // Both outlive it.
    TracedLayer(const ProbeContext& context, const ProbeRequest& request)
        : context_(context),
          request_(request),
          traits_(mixer_traits(context.net.config())),
          mixer_(context.net.mixer(request.layer)),
          taps_(context.kept.of(context.net, request.tokens, request.layer)) {
        if (traits_.has_bias()) table_.emplace(context.net, request.layer);
    }
    [[nodiscard]] int64_t tokens() const { return taps_.tokens(); }
    // [T], bool: sources that w = -inf hides from this target in all heads.
    [[nodiscard]] at::Tensor masked(int64_t target) const;
    // share [T] -> share A [T], float64. part: prior or both.
    [[nodiscard]] at::Tensor times(const at::Tensor& share, const std::string& part) const;

  private:
    struct Factors {
        at::Tensor e;        // [heads, sources, rows]: exp(K), the largest of each row is 1
        at::Tensor weights;  // [heads, T, rows]: the gate's, they sum to 1 at each target
    };
    [[nodiscard]] Factors factors(bool has_content, int64_t sources) const;
    [[nodiscard]] at::Tensor bias_weights(int64_t first, int64_t end) const;
    // The targets [first, end) of share: adds what they give to carried, [heads, sources, rows],
    // but for those that it returns, bool [end - first].
    [[nodiscard]] at::Tensor add_block(const at::Tensor& share, std::pair<int64_t, int64_t> block,
                                       const Factors& of, at::Tensor& carried) const;
    void add_rows(const at::Tensor& share, const std::string& part, at::Tensor& sum) const;
    [[nodiscard]] bool is_causal() const { return context_.net.config().causal(); }
    [[nodiscard]] int64_t heads() const { return table_ ? table_->heads() : 1; }
    void check_stop() const {
        if (context_.control.stop.stop_requested()) throw Interrupted();
    }

    const ProbeContext& context_;
    const ProbeRequest& request_;
    MixerTraits traits_;
    const Mixer& mixer_;
    LayerTaps taps_;
    std::optional<probe::BiasTable> table_;
};

at::Tensor TracedLayer::masked(int64_t target) const {
    const int64_t T = tokens();
    if (!table_ || !table_->traits().has_masks) return at::zeros({T}, at::kBool);
    const at::Tensor w = table_->rows(target, target + 1).values.select(1, 0).slice(1, 0, T);
    const at::Tensor hidden = w.isneginf().all(0);
    return is_causal() ? hidden & (at::arange(T, at::kLong) <= target) : hidden;
}

// The prior knows no keys: one row for each head of w is enough.
TracedLayer::Factors TracedLayer::factors(bool has_content, int64_t sources) const {
    const int64_t T = taps_.tokens(), h = heads();
    const at::Tensor k = has_content ? mixer_.key_maps(taps_) : at::zeros({h, T}, at::kDouble);
    const at::Tensor seen = k.slice(1, 0, sources);
    const at::Tensor e = (seen - seen.amax(1, true)).exp();  // [all rows, sources]
    const at::Tensor gate =
        traits_.has_gate ? mixer_.gates(taps_) : at::ones({T, taps_.v.size(1)}, at::kDouble);
    const at::Tensor by_row = gate.view({T, k.size(0), -1}).sum(2);
    return {.e = e.view({h, -1, sources}).transpose(1, 2).contiguous(),
            .weights = (by_row / by_row.sum(1, true)).view({T, h, -1}).transpose(0, 1)};
}

// exp(w) of the targets [first, end), each row's largest visible one is 1, [heads, end - first, T].
at::Tensor TracedLayer::bias_weights(int64_t first, int64_t end) const {
    const int64_t T = taps_.tokens();
    if (!table_) {
        const at::Tensor all = at::ones({1, end - first, T}, at::kDouble);
        return is_causal() ? all.tril(first) : all;
    }
    const probe::BiasRows rows = table_->rows(first, end);
    const at::Tensor w =
        at::where(rows.visible, rows.values, -std::numeric_limits<double>::infinity())
            .slice(2, 0, T);
    return (w - w.amax(2, true)).exp();
}

// Adds the rows of A one by one.
void TracedLayer::add_rows(const at::Tensor& share, const std::string& part,
                           at::Tensor& sum) const {
    const probe::LayerShares rows(context_, request_, part);
    const auto value = share.accessor<double, 1>();
    for (int64_t i = 0; i < share.size(0); ++i) {
        if (value[i] == 0) continue;
        check_stop();
        sum += probe::reduced(rows.at(i), "gate")[0] * value[i];
    }
}

at::Tensor TracedLayer::add_block(const at::Tensor& share, std::pair<int64_t, int64_t> block,
                                  const Factors& of, at::Tensor& carried) const {
    const auto [first, end] = block;
    const int64_t seen = is_causal() ? end : taps_.tokens();
    const at::Tensor w = bias_weights(first, end).slice(2, 0, seen);
    const at::Tensor sums = at::bmm(w, of.e.slice(1, 0, seen));  // [heads, targets, rows]
    const at::Tensor needs_exact = (sums > kLeastSum).all(2).all(0).logical_not();
    const at::Tensor given =
        share.slice(0, first, end).view({1, -1, 1}) * of.weights.slice(1, first, end) / sums;
    carried.slice(1, 0, seen)
        .add_(at::bmm(w.transpose(1, 2), given.masked_fill(needs_exact.view({1, -1, 1}), 0)));
    return needs_exact;
}

at::Tensor TracedLayer::times(const at::Tensor& share, const std::string& part) const {
    const int64_t T = taps_.tokens();
    at::Tensor sum = at::zeros({T}, at::kDouble);
    const at::Tensor used = share.nonzero().squeeze(1);
    if (used.numel() == 0) return sum;
    if (!traits_.has_key_maps) {
        add_rows(share, part, sum);
        return sum;
    }
    const int64_t low = used[0].item<int64_t>(), high = used[-1].item<int64_t>() + 1;
    const int64_t sources = is_causal() ? high : T;
    const Factors of = factors(part != "prior", sources);
    const int64_t targets = std::clamp<int64_t>(kBlockValues / (heads() * T), 1, 512);
    at::Tensor carried = at::zeros_like(of.e), left = at::zeros_like(share);
    for (int64_t first = low; first < high; first += targets) {
        check_stop();
        const int64_t end = std::min(high, first + targets);
        const at::Tensor needs_exact = add_block(share, {first, end}, of, carried);
        left.slice(0, first, end).copy_(share.slice(0, first, end) * needs_exact);
    }
    sum.slice(0, 0, sources).copy_((carried * of.e).sum(2).sum(0));
    add_rows(left, part, sum);
    return sum;
}

struct Traced {
    at::Tensor trace, prior;   // [layers, T], float64; prior undefined without one
    at::Tensor masked;         // [layers, T], bool; undefined without masks, and where followed
    std::vector<double> kept;  // [layers], what residual connections carried past the mixer
};

at::Tensor residual_share(const ProbeContext& context, const ProbeRequest& request,
                          const std::string& how, int64_t T) {
    if (how == "measured")
        return context.kept.residual_share(context.net, request.tokens, request.layer);
    return at::full({T}, how == "half" ? 0.5 : 0.0, at::kDouble);
}

Traced follow(const ProbeContext& context, ProbeRequest request) {
    const bool is_alone = probe::option(trace_probe(), request, "layers") == "alone";
    const std::string how = is_alone ? "none" : probe::option(trace_probe(), request, "residual");
    const int64_t layers = context.net.config().layers;
    const bool has_prior = mixer_traits(context.net.config()).has_prior();
    at::Tensor share, prior;
    std::vector<at::Tensor> shares, priors, masked;
    Traced out{.trace = {}, .prior = {}, .masked = {}, .kept = std::vector<double>(size_t(layers))};
    for (int64_t done = 0; done < layers; ++done) {
        context.control.report({.done = done, .total = layers, .what = "layers"});
        request.layer = layers - 1 - done;
        const TracedLayer layer(context, request);
        if (done == 0) probe::check_range("position", request.position, layer.tokens());
        if (done == 0 || is_alone) {
            share = at::zeros({layer.tokens()}, at::kDouble);
            share[request.position] = 1;
            prior = share;
        }
        const at::Tensor residual = residual_share(context, request, how, layer.tokens());
        const auto down = [&](const at::Tensor& from, const char* part) {
            return from * residual + layer.times(from * (1 - residual), part);
        };
        out.kept[size_t(request.layer)] = (share * residual).sum().item<double>();
        share = down(share, "both");
        shares.insert(shares.begin(), share);
        if (is_alone) masked.insert(masked.begin(), layer.masked(request.position));
        if (!has_prior) continue;
        prior = down(prior, "prior");
        priors.insert(priors.begin(), prior);
    }
    out.trace = at::stack(shares);
    if (has_prior) out.prior = at::stack(priors);
    if (is_alone && at::stack(masked).any().item<bool>()) out.masked = at::stack(masked);
    return out;
}

// Of every row the positions with the largest shares, largest first: [layers, n, 2 or 3].
at::Tensor strongest(const Traced& traced) {
    const auto [values, places] = traced.trace.sort(/*stable=*/true, 1, /*descending=*/true);
    const int64_t n = std::min(kStrongest, traced.trace.size(1));
    const at::Tensor position = places.slice(1, 0, n);
    std::vector<at::Tensor> columns{position.to(at::kDouble), values.slice(1, 0, n)};
    if (traced.prior.defined()) columns.push_back(traced.prior.gather(1, position));
    return at::stack(columns, 2);
}

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const MixerTraits traits = mixer_traits(context.net.config());
    if (!traits.has_attention) fail_usage("there is nothing to trace: {}", traits.no_attention);
    if (request.head >= 0 || request.channel >= 0)
        fail_usage("probe trace follows all channels of all heads: no --head and no --channel");
    const Traced traced = follow(context, request);
    std::map<std::string, std::string> notes{
        {"layers", probe::option(trace_probe(), request, "layers")},
        {"position", std::to_string(request.position)}};
    if (notes.at("layers") == "chained") {
        notes["approximation"] = "attention rollout: follows shares of attention, not values";
        notes["residual"] = probe::option(trace_probe(), request, "residual");
    }
    const auto field = [&](const char* name, const at::Tensor& values, const char* unit,
                           std::vector<std::string> axes) {
        return probe::make_field(values, {name, unit, std::move(axes), notes}, context.step);
    };
    FieldSet out{
        {field("trace", traced.trace, "share", {"layer", "source"}),
         field("kept", at::tensor(traced.kept, at::kDouble), "share", {"layer"}),
         field("strongest", strongest(traced), "", {"layer", "rank", "position, share, prior"})}};
    if (traced.prior.defined())
        out.fields.push_back(field("prior", traced.prior, "share", {"layer", "source"}));
    if (traced.masked.defined())
        out.fields.push_back(field("masked", traced.masked, "", {"layer", "source"}));
    return out;
}

}  // namespace

ProbeRoom trace_probe() {
    return {.info = {"trace",
                     "one target traced back to the input through all layers (attention rollout, "
                     "an approximation)"},
            .options = {{"residual", {"measured", "half", "none"}, "measured"},
                        {"layers", {"chained", "alone"}, "chained"}},
            .needs = ProbeNeeds::input,
            .folds_sources = true,
            .run = run};
}

}  // namespace aft
