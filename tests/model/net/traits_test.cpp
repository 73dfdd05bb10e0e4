// What mixers and tasks say of themselves is what they do: every room of the lists, with every task
// that it serves.
#include <gtest/gtest.h>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "model/tasks/task.h"
#include "tests/model/net/trait_checks.h"

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
};

TEST_F(Traits, TheBiasIsLaidOutAsTheySay) {
    of_every_net(check_bias);
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
    of_every_net(check_views);
}

TEST_F(Traits, WithoutAGateTheyNameTheSetting) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.own["query_gate"] = false;
    EXPECT_FALSE(mixer_traits(model).has_gate);
    EXPECT_NE(mixer_traits(model).no_gate.find("model.query_gate"), std::string::npos);
    EXPECT_EQ(values_named(tiny_net(model), "mixer.q"), 0);
}

TEST_F(Traits, TheDecoderIsTheOneTheySay) {
    of_every_net(check_decoder);
}

TEST_F(Traits, TasksSayTheirMetricAndTheirTokens) {
    for (const TaskRoom& room : tasks()) {
        SCOPED_TRACE(room.info.name);
        check_task(room);
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
