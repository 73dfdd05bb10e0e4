#include "bench/workloads/own_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "bench/workloads/decoding.h"
#include "bench/workloads/training.h"
#include "model/mixers/mixer.h"
#include "model/traits.h"

namespace aft::bench {
namespace {

constexpr int64_t kMostPairs = int64_t{1} << 26;  // [T, T] in float64 for the errors
constexpr double kMostValues = 1 << 22;           // T d layers of the batch of a step

// The same net with softmax attention; heads of 64 channels where the width allows it.
ModelConfig with_attention(ModelConfig model) {
    Config whole;
    whole.model = std::move(model);
    whole.model.mixer = "softmax";
    const int64_t width = whole.model.inner_width();
    int64_t heads = std::max<int64_t>(1, width / 64);
    while (width % heads != 0) --heads;
    reset_unread(whole);
    whole.model.own["heads"] = heads;
    return whole.model;
}

Problem operator_problem(const ModelConfig& model, bool quick) {
    const MixerTraits mixer = mixer_traits(model);
    const Shape shape{.name = "",
                      .batch = 1,
                      .length = quick ? std::min<int64_t>(model.tokens(), 256) : model.tokens(),
                      .width = model.inner_width()};
    ops::Options options{.causal = model.causal(),
                         .window = mixer.has_kernel() ? 0 : mixer.window,
                         .outside_hidden = mixer.outside_hidden};
    if (mixer.on_grid) {
        options.grid_height = model.grid_height();
        options.grid_width = model.grid_width();
    }
    Problem one = make_problem(ops::parse_kind(mixer.op), shape, options);
    if (mixer.has_kernel()) {
        one.in.k = at::randn({1, shape.length, mixer.heads});
        one.in.w = mixer.on_grid ? at::randn({mixer.heads, mixer.window, mixer.window}) * 0.5
                                 : at::randn({mixer.heads, mixer.window}) * 0.5;
    }
    one.group = "attention";
    return one;
}

bool has_operator(const ModelConfig& model) {
    const MixerTraits mixer = mixer_traits(model);
    const int64_t T = model.tokens();
    // A grid is whole; the function in float64 knows no window that hides.
    return !mixer.op.empty() && !mixer.outside_hidden && T <= kMostPairs / T;
}

RowPlan operator_row(const ModelConfig& model) {
    const std::string name =
        fmt::format("{}, {}T={}, d={}, one example", mixer_traits(model).words,
                    model.causal() ? "causal, " : "", model.tokens(), model.inner_width());
    return {name, [model](const BenchSettings& settings, const JobControl& control) {
                const bool quick = settings.quick && !mixer_traits(model).on_grid;
                return race(operator_problem(model, quick), settings, control);
            }};
}

nlohmann::json token_race(const ModelConfig& model, const BenchSettings& settings,
                          const JobControl& control) {
    const Net own(model, 1), attention(with_attention(model), 1);
    const int64_t position = model.tokens() / 2;
    const DecodeForm ours{.name = "afterimage", .net = &own, .position = position};
    const DecodeForm cache{.name = "the same size with softmax attention, key-value cache",
                           .net = &attention,
                           .position = position,
                           .way = Way::cache,
                           .over = 0};
    return decode_race({.forms = {ours, cache}}, settings, control);
}

bool has_tokens(const ModelConfig& model) {
    const TaskTraits& task = task_traits(model);
    return task.is_autoregressive && !task.is_mixer_alone && model.activation == "gelu" &&
           mixer_traits(model).decoder != DecoderKind::prefix && model.start_token &&
           model.output_projection && model.qkv_bias;
}

RowPlan token_row(const ModelConfig& model) {
    return {fmt::format("one token, {}, {} after {} others", mixer_traits(model).words,
                        size_words(model), model.tokens() / 2),
            [model](const BenchSettings& settings, const JobControl& control) {
                return token_race(model, settings, control);
            }};
}

Config step_config(Config config) {
    const ModelConfig& model = config.model;
    const double values = static_cast<double>(model.tokens() * model.inner_width() * model.layers);
    config.train.batch =
        std::clamp<int64_t>(static_cast<int64_t>(kMostValues / values), 1, config.train.batch);
    config.train.micro_batch = 0;
    config.train.recompute = config.train.reproducible = false;
    return config;
}

RowPlan step_row(const Config& config) {
    return {fmt::format("a training step, {}, {}", mixer_traits(config.model).words,
                        step_words(config)),
            [config](const BenchSettings& settings, const JobControl& control) {
                Config softmax = config;
                softmax.model = with_attention(config.model);
                return train_race(
                    {.forms = {{"afterimage", "ours", config},
                               {"the same net with softmax attention", "attention", softmax}}},
                    settings, control);
            }};
}

}  // namespace

std::vector<OwnWorkload> own_workloads(const Config& config) {
    const ModelConfig& model = config.model;
    const TaskTraits& task = task_traits(model);
    std::vector<OwnWorkload> all;
    if (!task.is_bias_alone && has_operator(model))
        all.push_back(
            {{"own_operator", "the operator of this model, forward"}, {operator_row(model)}});
    if (!task.is_bias_alone && has_tokens(model))
        all.push_back({{"own_token", "the next token of this model"}, {token_row(model)}});
    if (task.is_trainable() && !config.data.source.empty())
        all.push_back({{"own_step", "a training step of this model on its data"},
                       {step_row(step_config(config))}});
    return all;
}

}  // namespace aft::bench
