#include "model/nn/embedding.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "core/check.h"
#include "model/traits.h"

namespace aft {

namespace {

constexpr double kEmbeddingStd = 0.02;

// sin and cos of the value at wavelengths from 16 levels up: neighbours in value are neighbours in
// the embedding. [levels, d], each entry within [-1, 1].
at::Tensor value_features(int64_t levels, int64_t d) {
    constexpr double kShortest = 16;  // levels
    const double longest = 4.0 * std::max<double>(static_cast<double>(levels), kShortest);
    const int64_t waves = (d + 1) / 2;
    const at::Tensor share = at::linspace(0, 1, waves, at::kDouble);
    const at::Tensor wavelength = kShortest * at::pow(longest / kShortest, share);
    const at::Tensor angle = at::outer(at::arange(levels, at::kDouble),
                                       2 * std::numbers::pi * at::reciprocal(wavelength));
    return at::cat({at::sin(angle), at::cos(angle)}, 1).narrow(1, 0, d);
}

bool is_ordered(const ModelConfig& config) {
    return config.init == "ordered";
}

// Position table as a sum of one table for rows, one for columns and one for channels: positions
// that share a coordinate start alike.
at::Tensor ordered_positions(const ModelConfig& config, std::optional<uint64_t> seed) {
    Parameters parts;
    ParameterMaker maker(parts, seed, at::kCPU);
    const auto part = [&](const char* name, int64_t n) {
        return maker
            .normal(std::string("embed.position.") + name, {n, config.dim}, kEmbeddingStd,
                    ParameterGroup::embedding)
            .detach();
    };
    const at::Tensor y = part("y", config.height).view({config.height, 1, 1, config.dim});
    const at::Tensor x = part("x", config.width).view({1, config.width, 1, config.dim});
    const at::Tensor c = part("c", config.channels).view({1, 1, config.channels, config.dim});
    return (y + x + c).reshape({config.tokens(), config.dim});
}

}  // namespace

at::Tensor sinusoidal_positions(int64_t tokens, int64_t d) {
    constexpr double kLongest = 10000;
    const at::Tensor even = at::arange(0, d, 2, at::kDouble);
    const at::Tensor rate = at::exp(even * (-std::log(kLongest) / static_cast<double>(d)));
    const at::Tensor angle = at::outer(at::arange(tokens, at::kDouble), rate);
    return at::stack({at::sin(angle), at::cos(angle)}, 2)
        .flatten(1)
        .narrow(1, 0, d)
        .to(at::kFloat)
        .contiguous();
}

void PatchSettings::visit(SettingRows& rows) {
    rows.push_back(number_row("model.patch", &patch, "Side of a patch in classification.",
                              {1, 1024, "pixels"}));
    rows.push_back(
        flag_row("model.class_token", &class_token,
                 "Classification: read the answer from a class token instead of the mean."));
    rows.push_back(flag_row("model.distillation_token", &distillation_token,
                            "A second token beside the class token, with a head of its own: the "
                            "logits are the mean of both (DeiT)."));
}

Embedding make_embedding(ParameterMaker& maker, const ModelConfig& config) {
    const int64_t d = config.dim;
    Embedding e;
    if (!config.causal()) {
        const auto patches = config.own.read<PatchSettings>();
        const int64_t values = config.channels * patches.patch * patches.patch;
        e.patch = make_linear(maker, config, "patch", {values, d});
        if (patches.class_token)
            e.cls = maker.normal("cls", {d}, kEmbeddingStd, ParameterGroup::embedding);
        if (patches.distillation_token)
            e.dist = maker.normal("dist", {d}, kEmbeddingStd, ParameterGroup::embedding);
    } else {
        const std::string name = "embed.token.weight";
        e.token = is_ordered(config) ? maker.given(name, 0.5 * value_features(config.levels, d),
                                                   ParameterGroup::embedding)
                                     : maker.normal(name, {config.levels, d}, kEmbeddingStd,
                                                    ParameterGroup::embedding);
        if (config.start_token)
            e.start = maker.normal("embed.start", {d}, kEmbeddingStd, ParameterGroup::embedding);
    }
    if (config.positions == "sinusoidal") {
        e.position = sinusoidal_positions(config.tokens(), d).to(maker.device());
    } else if (config.has_positions()) {
        const std::string name = "embed.position.weight";
        e.position = is_ordered(config) ? maker.given(name, ordered_positions(config, maker.seed()),
                                                      ParameterGroup::embedding)
                                        : maker.normal(name, {config.tokens(), d}, kEmbeddingStd,
                                                       ParameterGroup::embedding);
    }
    return e;
}

Linear make_head(ParameterMaker& maker, const ModelConfig& config) {
    const int64_t out = config.outputs();
    if (!is_ordered(config)) return make_linear(maker, config, "head", {config.dim, out});
    // The same features as the token table, with standard deviation 0.02.
    const at::Tensor weight = kEmbeddingStd * std::numbers::sqrt2 * value_features(out, config.dim);
    return {maker.given("head.weight", weight, ParameterGroup::linear_weight),
            maker.constant("head.bias", {out}, 0, ParameterGroup::bias)};
}

Linear make_distillation_head(ParameterMaker& maker, const ModelConfig& config) {
    if (config.prefix_tokens() < 2) return {};
    return make_linear(maker, config, "head_dist", {config.dim, config.outputs()});
}

at::Tensor Embedding::with_start() const {
    return start.defined() ? at::cat({token, start.unsqueeze(0)}) : token;
}

int64_t Embedding::start_row() const {
    return start.defined() ? token.size(0) : 0;
}

at::Tensor Embedding::tokens(const at::Tensor& fed) const {
    const int64_t levels = token.size(0);
    if (fed.dim() != 2 || fed.scalar_type() != at::kLong)
        fail_usage("tokens are int64 [B, T], found {} with {} dimensions",
                   c10::toString(fed.scalar_type()), fed.dim());
    if (position.defined() && fed.size(1) > position.size(0))
        fail_usage("the sequence has {} tokens, the model's positions end at {}", fed.size(1),
                   position.size(0));
    if (fed.is_cpu() && fed.numel() > 0) {  // on a device this would wait for it
        const auto [low, high] = fed.aminmax();
        if (low.item<int64_t>() < -1 || high.item<int64_t>() >= levels)
            fail_usage("a token is {}; allowed: -1 (start) to {}",
                       low.item<int64_t>() < -1 ? low.item<int64_t>() : high.item<int64_t>(),
                       levels - 1);
    }
    const at::Tensor table = with_start();
    const at::Tensor row = at::where(fed < 0, start_row(), fed);
    const at::Tensor x =
        gather_rows(table, row.flatten()).view({fed.size(0), fed.size(1), token.size(1)});
    return position.defined() ? x + position.narrow(0, 0, fed.size(1)) : x;
}

at::Tensor Embedding::one(const at::Tensor& tokens, int64_t at_position) const {
    if (position.defined() && at_position >= position.size(0))
        fail_usage("position {} is past the model's last, {}", at_position, position.size(0) - 1);
    const at::Tensor row = at::where(tokens < 0, start_row(), tokens);
    const at::Tensor x = with_start().index_select(0, row);
    return position.defined() ? x + position.select(0, at_position) : x;
}

at::Tensor Embedding::patches(const at::Tensor& image, const ModelConfig& config) const {
    const int64_t p = config.own.read<PatchSettings>().patch, c = config.channels;
    if (image.dim() != 4 || image.size(1) != c)
        fail_usage("an image is [B, {}, height, width], found {} dimensions{}", c, image.dim(),
                   image.dim() == 4 ? fmt::format(" and {} channels", image.size(1)) : "");
    const int64_t b = image.size(0), height = image.size(2), width = image.size(3);
    if (height % p != 0 || width % p != 0 || height == 0 || width == 0)
        fail_usage("an image of {} x {} cannot be cut into patches of {}", height, width, p);
    if (position.defined() && (height != config.height || width != config.width))
        fail_usage("the model has a position table for {} x {}, found an image of {} x {}",
                   config.height, config.width, height, width);
    const int64_t rows = height / p, columns = width / p;
    const at::Tensor cut = image.view({b, c, rows, p, columns, p})
                               .permute({0, 2, 4, 1, 3, 5})
                               .reshape({b, rows * columns, c * p * p});
    at::Tensor x = patch(cut);
    if (dist.defined()) x = at::cat({dist.expand({b, 1, -1}), x}, 1);
    if (cls.defined()) x = at::cat({cls.expand({b, 1, -1}), x}, 1);
    return position.defined() ? x + position : x;
}

}  // namespace aft
