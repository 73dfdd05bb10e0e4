// lambda: every position gets a small linear map made of its context and applies it to its queries,
// a baseline for pictures (Bello 2021, "LambdaNetworks: Modeling Long-Range Interactions Without
// Attention", Eq. 1 and 2, Table 2; full context).
//   L[n] = sum_m (softmax_m(K)[m] + E[n,m]) V[m]^T          [k x d/h], content and position lambda
//   Y[n] = L[n]^T Q[n] for every head's query
// K has k numbers (model.key_depth), V d/h, both for all heads together; E[n,m] depends on the
// offset in the picture only. Queries and values are normalised as the paper advises, here over
// their own channels (layer norm, not batch norm: an answer never depends on the rest of a batch).
// Time O(T^2 k d/h), memory O(T^2 k + T k d/h).
#include <ATen/ATen.h>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

struct LambdaSettings : MixerSettings {
    int64_t key_depth = 16;
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        rows.push_back(number_row("model.key_depth", &key_depth,
                                  "lambda: numbers k of a key and of a head's query.", {1, 4096}));
    }
};

Norm norm_of(ParameterMaker& maker, const ModelConfig& config, const std::string& name,
             int64_t width) {
    return {maker.constant(name + ".weight", {width}, 1, ParameterGroup::norm),
            maker.constant(name + ".bias", {width}, 0, ParameterGroup::norm), config.norm_eps};
}

class Lambda final : public Mixer {
  public:
    Lambda(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : height_(config.grid_height()), width_(config.grid_width()) {
        const auto settings = config.own.read<LambdaSettings>();
        const int64_t depth = settings.key_depth, value = config.inner_width() / settings.heads;
        heads_ = settings.heads;
        q_ = make_inner_map(maker, config, prefix + "q", heads_ * depth);
        k_ = make_inner_map(maker, config, prefix + "k", depth);
        v_ = make_inner_map(maker, config, prefix + "v", value);
        q_norm_ = norm_of(maker, config, prefix + "q_norm", depth);
        v_norm_ = norm_of(maker, config, prefix + "v_norm", value);
        offsets_ = maker.normal(prefix + "offsets", {2 * height_ - 1, 2 * width_ - 1, depth}, 0.02,
                                ParameterGroup::embedding);
        o_ = make_output_map(maker, config, prefix);
    }

    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        const int64_t B = x.size(0), T = x.size(1), depth = k_.weight.size(0);
        // Of content and place: [B, k, d/h] and [B, T, k, d/h]; y [B, T, h, d/h].
        const at::Tensor v = v_norm_(v_(x));
        const at::Tensor k = nn::row_softmax(k_(x).transpose(1, 2));
        const at::Tensor q = q_norm_(q_(x).view({B, T, heads_, depth}));
        const at::Tensor content = nn::batched_product(k, v);
        const at::Tensor E = positions(context).reshape({T * depth, T});  // row n k, source m
        const at::Tensor place =
            nn::batched_product(E.unsqueeze(0).expand({B, -1, -1}), v).view({B, T, depth, -1});
        const at::Tensor y = nn::batched_product(q, content.unsqueeze(1) + place);
        const at::Tensor mixed = y.flatten(2);
        show(context, "v", v);
        show(context, "mix", mixed);
        return o_ ? (*o_)(mixed) : mixed;
    }

  private:
    // [T, k, T]: E of target, depth, source
    [[nodiscard]] at::Tensor positions(const MixContext& context) const {
        const int64_t rows = context.grid_height > 0 ? context.grid_height : height_;
        const int64_t columns = context.grid_width > 0 ? context.grid_width : width_;
        if (rows > height_ || columns > width_)
            fail_usage("a grid of {} x {} patches; the model knows offsets within {} x {} only",
                       rows, columns, height_, width_);
        const at::Tensor n = at::arange(rows * columns, at::kLong);
        const at::Tensor y = n.div(columns, "floor"), x = n.remainder(columns);
        const at::Tensor dy = y.unsqueeze(0) - y.unsqueeze(1) + height_ - 1;
        const at::Tensor dx = x.unsqueeze(0) - x.unsqueeze(1) + width_ - 1;
        const at::Tensor index = (dy * (2 * width_ - 1) + dx).reshape({-1});
        return offsets_.flatten(0, 1)
            .index_select(0, index.to(offsets_.device()))
            .view({n.numel(), n.numel(), -1})
            .transpose(1, 2);
    }

    int64_t heads_ = 1, height_, width_;  // of the token grid
    Linear q_, k_, v_;
    Norm q_norm_, v_norm_;
    at::Tensor offsets_;  // [2 H - 1, 2 W - 1, k]: m - n
    std::optional<Linear> o_;
};

void check(const ModelConfig& config) {
    check_attention(config);
    if (config.prefix_tokens() > 0)
        fail_usage(
            "model.class_token=true: lambda has no place for a class token in its grid; use false "
            "(mean pool)");
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    traits.words += fmt::format(", key depth {}", config.own.read<LambdaSettings>().key_depth);
    traits.bias = BiasLayout::none;
    traits.has_attention = false;
    traits.no_attention = "lambda has no attention: it applies a linear map to every query";
    traits.decoder = DecoderKind::prefix;
    traits.on_grid = true;
    traits.causal = false;
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Lambda>(config, maker, prefix);
}

// Two lambdas a position, E as a matrix [T k, T]: plain tensor calls.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const double T = count.T, d = count.d, h = count.h, value = count.w;
    const auto k = static_cast<double>(config.own.read<LambdaSettings>().key_depth);
    for (const double out : {h * k, k, value}) count.map(d, out, config.qkv_bias);
    count_output_map(count, config);
    count.cost.parameters += 2 * (k + value);
    count.cost.parameters += static_cast<double>(2 * shape.grid_height - 1) *
                             static_cast<double>(2 * shape.grid_width - 1) * k;
    count.product(T * k * value + T * T * k * value + T * h * k * value);
    // x and its norm; v, k and q before and after theirs; lambdas; E and its places, int64.
    count.keep(T * (2 * d + 2 + 2 * value + k + 2 * h * k + k * value) + T * T * (k + 2));
    return {count.cost, "T^2 k d / h", "T^2 k + T k d / h"};
}

}  // namespace

MixerRoom lambda_mixer() {
    return {.info = {"lambda", "Linear maps made of the context, for pictures (LambdaNetworks)."},
            .traits = traits,
            .visit = visit_settings<LambdaSettings>,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
