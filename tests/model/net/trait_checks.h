// What a mixer says of itself against what its net does; for the rooms of the program (traits_test)
// and for those that only tests have (tests/toys). Inside a test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "model/decode/decoder.h"
#include "model/tasks/task.h"
#include "tests/model/net/tiny_nets.h"

namespace aft {

template <class Count>
int64_t values_of(const Net& net, const Count& counts) {
    int64_t count = 0;
    for (const Parameter& parameter : net.parameters())
        if (parameter.layer == 0 && counts(parameter)) count += parameter.value.numel();
    return count;
}

inline int64_t values_named(const Net& net, const std::string& part) {
    return values_of(net,
                     [&](const Parameter& one) { return one.name.find(part) != one.name.npos; });
}

// Every shape that model/traits.h allows.
inline std::vector<std::vector<int64_t>> shapes_of_bias(const MixerTraits& traits, int64_t T) {
    switch (traits.bias) {
        case BiasLayout::matrix:
        case BiasLayout::band:
            return traits.heads > 1
                       ? std::vector<std::vector<int64_t>>{{T, T}, {traits.heads, T, T}}
                       : std::vector<std::vector<int64_t>>{{T, T}};
        case BiasLayout::kernel_1d:
            return {{traits.heads, traits.window}};
        case BiasLayout::kernel_2d:
            return {{traits.heads, traits.window, traits.window}};
        default:
            return {};
    }
}

inline void check_bias(const Net& net, const MixerTraits& traits) {
    const int64_t T = net.config().tokens();
    const std::optional<at::Tensor> w = net.mixer(0).bias(T);
    ASSERT_EQ(w.has_value(), traits.has_bias());
    EXPECT_EQ(traits.no_bias.empty(), traits.has_bias());
    const int64_t stored = values_of(
        net, [](const Parameter& one) { return one.group == ParameterGroup::position_bias; });
    EXPECT_EQ(traits.bias_values, static_cast<double>(stored))
        << "bias_values of the traits: the values of a layer in ParameterGroup::position_bias";
    if (!w) return;
    const auto shapes = shapes_of_bias(traits, T);
    EXPECT_NE(std::find(shapes.begin(), shapes.end(), w->sizes().vec()), shapes.end())
        << w->sizes();
    if (traits.has_kernel() || traits.window == 0) return;
    const at::Tensor far = w->triu(traits.window) + w->tril(-traits.window);
    EXPECT_EQ(far.abs().max().item<float>(), 0) << "a bias outside the window";
    EXPECT_NE(w->diagonal(1 - traits.window, -2, -1).abs().max().item<float>(), 0);
}

inline void check_views(const Net& net, const MixerTraits& traits) {
    const int64_t T = net.config().tokens(), d = net.config().dim;
    const int64_t keys = values_named(net, "mixer.k.bias");
    const LayerTaps taps{.q = at::randn({T, d}), .k = at::randn({T, keys}), .v = at::randn({T, d})};
    EXPECT_EQ(traits.no_gate.empty(), traits.has_gate);
    EXPECT_EQ(traits.no_keys.empty(), traits.has_key_maps);
    EXPECT_EQ(traits.no_attention.empty(), traits.has_attention);
    const Mixer& mixer = net.mixer(0);
    if (traits.has_gate) {
        EXPECT_EQ(mixer.gates(taps).sizes().vec(), (std::vector<int64_t>{T, d}));
    }
    if (traits.has_key_maps) {
        EXPECT_EQ(mixer.key_maps(taps).sizes().vec(),
                  (std::vector<int64_t>{traits.keys_by_head ? traits.heads : d, T}));
    }
    if (!traits.has_attention) return;
    const AttentionLogits rows = mixer.attention_rows({.taps = taps, .target = 2, .bias = {}});
    EXPECT_EQ(rows.logits.size(1), T);
    EXPECT_EQ(rows.gate.size(0), rows.logits.size(0));
    EXPECT_EQ(rows.logits.size(0), std::string(rows.axis) == "head" ? traits.heads : d);
}

inline void check_task(const TaskRoom& room) {
    const ModelConfig model = tiny_model("aft-simple", room.info.name);
    EXPECT_EQ(&task_traits(model), &room.traits);
    EXPECT_EQ(model.causal(), room.traits.is_autoregressive);
    if (room.traits.is_mixer_alone) return;  // no head
    EXPECT_EQ(tiny_net(model).parameters().back().value.size(0), room.traits.has_classes ? 3
                                                                 : room.outputs != nullptr
                                                                     ? room.outputs(model)
                                                                     : model.levels)
        << "outputs of the head";
    EXPECT_FALSE(room.traits.metric.empty());
    EXPECT_FALSE(room.traits.metric_words.empty());
    EXPECT_EQ(room.traits.loss_key() == "loss", !room.traits.loss_in_bits);
}

inline void check_decoder(const Net& net, const MixerTraits& traits) {
    if (!net.config().causal()) return;
    EXPECT_EQ(decode::why_not_packed(net) == nullptr, traits.decoder == DecoderKind::packed);
}

}  // namespace aft
