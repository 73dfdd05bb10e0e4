// What mixers and tasks say of themselves is what they do: every room of the lists, with every task
// that it serves.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/check.h"
#include "model/decode/decoder.h"
#include "model/mixers/aft_layer.h"
#include "model/tasks/task.h"
#include "tests/model/tiny_nets.h"

namespace aft {
namespace {

class Traits : public ::testing::Test {
  protected:
    template <class Check>
    static void of_every_net(const Check& check) {
        for (const ModelConfig& model : tiny_models(true, true)) {
            SCOPED_TRACE(model.mixer + " " + model.task);
            check(tiny_net(model), mixer_traits(model));
        }
    }
    static int64_t values_named(const Net& net, const std::string& part) {
        int64_t count = 0;
        for (const Parameter& parameter : net.parameters())
            if (parameter.layer == 0 && parameter.name.find(part) != std::string::npos)
                count += parameter.value.numel();
        return count;
    }
};

std::vector<int64_t> shape_of_bias(const MixerTraits& traits, int64_t T) {
    switch (traits.bias) {
        case BiasLayout::matrix:
        case BiasLayout::band:
            return {T, T};
        case BiasLayout::kernel_1d:
            return {traits.heads, traits.window};
        case BiasLayout::kernel_2d:
            return {traits.heads, traits.window, traits.window};
        default:
            return {};
    }
}

TEST_F(Traits, TheBiasIsLaidOutAsTheySay) {
    of_every_net([](const Net& net, const MixerTraits& traits) {
        const int64_t T = net.config().tokens();
        const std::optional<at::Tensor> w = net.mixer(0).bias(T);
        ASSERT_EQ(w.has_value(), traits.has_bias());
        EXPECT_EQ(traits.no_bias.empty(), traits.has_bias());
        const int64_t stored = values_named(net, "mixer.w") + values_named(net, "mixer.u") +
                               values_named(net, "mixer.r") + values_named(net, "mixer.kernel");
        EXPECT_EQ(traits.bias_values, static_cast<double>(stored));
        if (!w) return;
        EXPECT_EQ(w->sizes().vec(), shape_of_bias(traits, T));
        if (traits.has_kernel() || traits.window == 0) return;
        const at::Tensor far = w->triu(traits.window) + w->tril(-traits.window);
        EXPECT_EQ(far.abs().max().item<float>(), 0) << "a bias outside the window";
        EXPECT_NE(w->diagonal(1 - traits.window).abs().max().item<float>(), 0);
    });
}

// What every layer with an operator of AFT has: no view of it can go without a test failing.
TEST_F(Traits, EveryAftLayerHasKeysAttentionAndItsGate) {
    size_t layers = 0;
    of_every_net([&](const Net& net, const MixerTraits& traits) {
        if (dynamic_cast<const AftLayer*>(&net.mixer(0)) == nullptr) return;
        ++layers;
        EXPECT_TRUE(traits.has_key_maps && traits.has_attention);
        EXPECT_EQ(traits.has_gate, net.config().own.read<MixerSettings>().query_gate);
    });
    EXPECT_GE(layers, 10u);
}

TEST_F(Traits, ThoseOfKernelsAndAttentionTakeHeads) {
    for (const char* mixer : {"aft-conv1d", "aft-conv2d", "softmax", "strided"})
        EXPECT_TRUE(takes_heads(small_config(mixer, "image"))) << mixer;
    EXPECT_FALSE(takes_heads(small_config("aft-simple", "image")));
}

// A window of 0 is no bias, one of all positions is a matrix.
TEST_F(Traits, ThoseOfAftLocalFollowItsWindow) {
    ModelConfig model = tiny_model("aft-local", "image");
    EXPECT_EQ(mixer_traits(model).bias, BiasLayout::band);
    model.own["window"] = model.tokens();
    EXPECT_EQ(mixer_traits(model).bias, BiasLayout::matrix);
    model.own["window"] = 0;
    EXPECT_EQ(mixer_traits(model).bias, BiasLayout::none);
    EXPECT_EQ(mixer_traits(model).bias_values, 0);
    EXPECT_FALSE(mixer_traits(model).no_bias.empty());
}

TEST_F(Traits, GatesKeysAndAttentionAreThereAsTheySay) {
    of_every_net([](const Net& net, const MixerTraits& traits) {
        const int64_t T = net.config().tokens(), d = net.config().dim;
        const int64_t keys = values_named(net, "mixer.k.bias");
        const LayerTaps taps{
            .q = at::randn({T, d}), .k = at::randn({T, keys}), .v = at::randn({T, d})};
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
    });
}

TEST_F(Traits, WithoutAGateTheyNameTheSetting) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.own["query_gate"] = false;
    EXPECT_FALSE(mixer_traits(model).has_gate);
    EXPECT_NE(mixer_traits(model).no_gate.find("model.query_gate"), std::string::npos);
    EXPECT_EQ(values_named(tiny_net(model), "mixer.q"), 0);
}

TEST_F(Traits, TheDecoderIsTheOneTheySay) {
    of_every_net([](const Net& net, const MixerTraits& traits) {
        if (!net.config().causal()) return;
        EXPECT_EQ(decode::why_not_packed(net) == nullptr, traits.decoder == DecoderKind::packed);
    });
}

TEST_F(Traits, TasksSayTheirMetricAndTheirTokens) {
    for (const TaskRoom& room : tasks()) {
        SCOPED_TRACE(room.info.name);
        ModelConfig model = tiny_model("aft-simple", room.info.name);
        EXPECT_EQ(&task_traits(model), &room.traits);
        EXPECT_EQ(model.causal(), room.traits.is_autoregressive);
        if (room.traits.is_mixer_alone) continue;  // no head
        EXPECT_EQ(tiny_net(model).parameters().back().value.size(0),
                  room.traits.has_classes ? 3 : model.levels)
            << "outputs of the head";
        EXPECT_FALSE(room.traits.metric.empty());
        EXPECT_FALSE(room.traits.metric_words.empty());
        EXPECT_EQ(room.traits.loss_key() == "loss", !room.traits.loss_in_bits);
    }
}

// A setting that was given as a whole number is one of real numbers where its row is.
TEST_F(Traits, SettingsOfRoomsKeepTheTypeOfTheirRows) {
    Config config;
    config.model.own["bias_std"] = 1;
    SettingRows rows = config.rows();
    EXPECT_EQ(value_text(*find_setting(rows, "model.bias_std")), "1");
    set_from_text(rows, "model.bias_std", "0.25");
    set_from_text(rows, "model.outside", "-inf");
    Config copy = config;  // its rows point into itself
    set_from_text(rows, "model.bias_std", "0.5");
    SettingRows copied = copy.rows();
    EXPECT_EQ(value_text(*find_setting(copied, "model.bias_std")), "0.25");
    EXPECT_EQ(value_text(*find_setting(copied, "model.outside")), "-inf");
    EXPECT_THROW(set_from_text(copied, "model.outside", "1"), Error);
    int windows = 0;
    for (const Setting& row : copied) windows += row.key == "model.window" ? 1 : 0;
    EXPECT_EQ(windows, 1) << "three rooms share it";
}

}  // namespace
}  // namespace aft
