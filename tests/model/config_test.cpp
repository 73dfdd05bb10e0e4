#include "model/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/check.h"
#include "model/mixers/settings.h"
#include "model/net/net.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

std::string usage_error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

TEST(Config, EveryRowSaysWhatItIs) {
    Config config;
    std::set<std::string> keys;
    for (const Setting& row : config.rows()) {
        EXPECT_TRUE(keys.insert(row.key).second) << row.key;
        EXPECT_GT(row.help.size(), 10u) << row.key;
        EXPECT_EQ(row.help.back(), '.') << row.key;
        const std::string allowed = allowed_text(row);
        EXPECT_TRUE(has(allowed, "allowed: ")) << allowed;
        // The default is itself allowed.
        Config copy;
        SettingRows rows = copy.rows();
        EXPECT_NO_THROW(set_from_text(rows, row.key, value_text(row))) << row.key;
    }
    std::set<std::string> live;
    for (const Setting& row : config.rows())
        if (row.live) live.insert(row.key);
    const std::set<std::string> expected{
        "model.dropout",           "train.batch",          "train.micro_batch",
        "train.learning_rate",     "train.weight_decay",   "train.bias_learning_rate_scale",
        "train.bias_weight_decay", "train.clip",           "train.steps",
        "train.log_every",         "train.validate_every", "train.publish_every"};
    for (const std::string& key : expected) EXPECT_TRUE(live.contains(key)) << key;
    for (const std::string& key : live)  // no shape follows from it
        EXPECT_TRUE(key.starts_with("train.") || key == "model.dropout") << key;
    for (const char* const key : {"train.seed", "train.ema", "train.recompute",
                                  "train.reproducible", "train.shard_optimizer"}) {
        EXPECT_TRUE(keys.contains(key)) << key;
        EXPECT_FALSE(live.contains(key)) << key;
    }
}

TEST(Config, JsonHoldsEverySettingAndReadsBackExactly) {
    Config config;
    config.name = "mine";
    config.train.learning_rate = 1.0 / 3e3;
    config.data.source = "images:/tmp/a b?size=8";
    const nlohmann::json json = config_to_json(config);
    Config back = config_from_json(nlohmann::json::parse(json.dump(2)), "mine.json");
    EXPECT_EQ(config_to_json(back), json);
    EXPECT_EQ(back.train.learning_rate, config.train.learning_rate);
    for (const Setting& row : back.rows()) {
        const std::string pointer = "/" + row.key.substr(0, row.key.find('.')) + "/" +
                                    row.key.substr(row.key.find('.') + 1);
        EXPECT_TRUE(json.contains(nlohmann::json::json_pointer(pointer))) << row.key;
    }
}

TEST(Config, BadFilesNameTheFileAndTheKey) {
    const Scratch folder;
    const std::vector<std::pair<const char*, const char*>> bad{
        {R"({"model": {"layer": 2}})", "did you mean 'model.layers'"},
        {R"({"modle": {}})", "modle"},
        {R"({"train": {"batch": "many"}})", "train.batch"},
        {R"({"model": {"mixer": "aft-lokal"}})", "aft-local"},
        {R"({"model": {"task": "classify", "patch": 5}})", "model.patch"},
        {R"({"name": 3})", "name"},
        {R"({"name": "../../x"})", "name is '../../x'"},
        {R"({"name": "/abs"})", "name is '/abs'"},
        {R"({"name": "a\n\u001b[2J"})", R"(name is 'a\n\x1b[2J')"},
        {R"({"model": )", "JSON"},
        {"", "JSON"},
        {"[]", "array"}};
    for (const auto& [text, words] : bad) {
        const auto path = folder / "broken.json";
        put(path, text);
        const std::string message =
            usage_error_of([&] { static_cast<void>(load_config_file(path.string())); });
        EXPECT_TRUE(has(message, path.string())) << message;
        EXPECT_TRUE(has(message, words)) << message;
    }
    put(folder / "broken.json", R"({"name": ")" + std::string(400000, 'n') + "\"}");
    const std::string vast = usage_error_of(
        [&] { static_cast<void>(load_config_file((folder / "broken.json").string())); });
    EXPECT_TRUE(has(vast, "allowed: at most 100 bytes")) << vast.substr(0, 200);
    EXPECT_LT(vast.size(), 400u);
    put(folder / "fine.json", R"({"model": {"layers": 3}})");
    const Config fine = load_config_file((folder / "fine.json").string());
    EXPECT_EQ(fine.model.layers, 3);
    EXPECT_EQ(fine.name, "fine");
}

TEST(Config, ContradictionsAreNamed) {
    const auto refused = [](auto change) {
        Config config;
        change(config);
        return usage_error_of([&] { config.check(); });
    };
    const auto model = [&](auto change) {
        return refused([&](Config& config) { change(config.model); });
    };
    EXPECT_TRUE(has(model([](auto& m) { m.own["heads"] = 4; }), "model.heads"));
    EXPECT_TRUE(has(model([](auto& m) { m.mixer = "softmax", m.own["heads"] = 5; }), "model.dim"));
    EXPECT_TRUE(has(model([](auto& m) { m.mixer = "softmax", m.own["query_gate"] = false; }),
                    "model.query_gate"));
    EXPECT_TRUE(has(model([](auto& m) { m.mixer = "aft-local", m.own["outside"] = "-inf"; }),
                    "model.window"));
    EXPECT_TRUE(has(model([](auto& m) { m.own["class_token"] = true; }), "model.class_token"));
    EXPECT_TRUE(has(model([](auto& m) { m.task = "classify", m.own["distillation_token"] = true; }),
                    "model.class_token=true"));
    EXPECT_TRUE(has(model([](auto& m) { m.mixer = "aft-conv2d", m.own["window"] = 4; }), "odd"));
    EXPECT_TRUE(
        has(model([](auto& m) { m.mixer = "aft-conv2d", m.own["window"] = 0; }), "model.window"));
    EXPECT_TRUE(
        has(model([](auto& m) { m.mixer = "aft-conv1d", m.own["window"] = 0; }), "model.window"));
    EXPECT_TRUE(has(model([](auto& m) {
                        m.mixer = "aft-conv2d", m.own["window"] = 3, m.task = "classify",
                        m.own["class_token"] = true;
                    }),
                    "model.class_token"));
    EXPECT_TRUE(
        has(model([](auto& m) { m.mixer = "aft-conv2d", m.task = "text", m.own["window"] = 3; }),
            "model.task"));
    EXPECT_TRUE(has(refused([](Config& c) { c.name = "../x"; }), "name is '../x'"));
    EXPECT_TRUE(has(model([](auto& m) { m.height = m.width = 16384; }), "tokens"));
    EXPECT_TRUE(has(refused([](Config& c) { c.model.task = "text", c.data.augment = "flip"; }),
                    "data.augment"));
    Config even;
    even.model.mixer = "aft-conv1d";
    even.model.own["window"] = 4;
    EXPECT_NO_THROW(even.check()) << "even kernels are allowed where they are causal";
    even.model.task = "classify";
    EXPECT_TRUE(has(usage_error_of([&] { even.check(); }), "odd"));
}

int64_t parameters_of(const std::string& preset) {
    return parameter_count(Net(load_preset(preset).model, 1, at::kMeta).parameters());
}

// Zhai et al. 2021 (arXiv 2105.14103), in millions as printed there.
TEST(Presets, ParameterCountsOfThePaper) {
    const std::vector<std::pair<const char*, double>> expected{{"deit-tiny", 5.7},
                                                               {"deit-small", 22.1},
                                                               {"deit-base", 86.6},
                                                               {"imagenet-full-tiny", 6.3},
                                                               {"imagenet-conv-tiny-32-11", 5.4},
                                                               {"imagenet-conv-small-16-11", 20.3},
                                                               {"imagenet-conv-small-384-11", 22.5},
                                                               {"imagenet-conv-small-384-15", 23.0},
                                                               {"imagenet-lambda-tiny", 4.8},
                                                               {"imagenet-lambda-small", 17.7}};
    for (const auto& [name, millions] : expected)
        EXPECT_NEAR(static_cast<double>(parameters_of(name)) / 1e6, millions, 0.05) << name;
    EXPECT_EQ(parameters_of("deit-tiny"), 5717416) << "timm's deit_tiny_patch16_224";
    EXPECT_EQ(parameters_of("deit-small"), 22050664) << "timm's deit_small_patch16_224";
    EXPECT_NEAR(static_cast<double>(parameters_of("imagenet-full-small")) / 1e6, 22.66, 0.005);
    EXPECT_NEAR(static_cast<double>(parameters_of("imagenet-conv-tiny-192-11")) / 1e6, 5.96, 0.005);
}

TEST(Presets, PositionBiasOfOneCifarLayer) {
    Config config = load_preset("cifar10-local-24x256");
    const auto bias = [&] {
        int64_t count = 0;
        const Net net(config.model, 1, at::kMeta);
        for (const Parameter& p : net.parameters())
            if (p.layer == 0 && p.group == ParameterGroup::position_bias) count += p.value.numel();
        return static_cast<double>(count) / 1e6;
    };
    EXPECT_NEAR(bias(), 0.39, 0.005);
    config.model.own["factors"] = 0;
    EXPECT_NEAR(bias(), 9.44, 0.005);
}

TEST(Presets, AllOfThemBuildAndSayWhatTheyAre) {
    const std::vector<PresetInfo> presets = list_presets();
    std::set<std::string> names;
    for (const PresetInfo& preset : presets) {
        SCOPED_TRACE(preset.name);
        names.insert(preset.name);
        EXPECT_GT(preset.sentence.size(), 20u);
        EXPECT_EQ(preset.sentence.back(), '.');
        const Config config = load_preset(preset.name);
        EXPECT_EQ(config.name, preset.name);
        EXPECT_GT(parameters_of(preset.name), 1000);
        EXPECT_GT(config.train.checkpoint_every, 0);
        EXPECT_LT(config.train.checkpoint_every, config.train.steps) << "a kill loses everything";
    }
    for (const char* name :
         {"cifar10-local-24x256", "cifar10-local-12x512", "cifar10-simple-24x256",
          "cifar10-transformer-24x256", "cifar10-transformer-12x512", "enwik8-local-24x256",
          "enwik8-local-12x512", "enwik8-simple-24x256", "enwik8-transformer-12x512",
          "enwik8-transformer-24x256", "imagenet-full-tiny", "imagenet-full-small", "demo-mirror",
          "demo-tiles", "demo-shapes", "cifar10-small", "mnist-small", "shakespeare-small"})
        EXPECT_TRUE(names.contains(name)) << name;
    const std::string unknown =
        usage_error_of([] { static_cast<void>(load_preset("demo-miror")); });
    EXPECT_TRUE(has(unknown, "did you mean 'demo-mirror'")) << unknown;
    usage_error_of([] { static_cast<void>(load_preset("../presets/demo-mirror")); });
}

TEST(Presets, RecipesOfThePaper) {
    const Config a = load_preset("cifar10-local-24x256");
    EXPECT_EQ(mixer_traits(a.model).window, 256);
    EXPECT_EQ(a.model.own.read<BiasTableSettings>().factors, 64);
    EXPECT_EQ(a.model.tokens(), 3072);
    EXPECT_EQ(a.train.batch, 128);
    EXPECT_EQ(a.train.learning_rate, 3e-3);
    EXPECT_EQ(a.train.weight_decay, 0.1);
    EXPECT_EQ(a.model.dropout, 0.1);
    EXPECT_EQ(a.data.augment, "recipe-a");
    const Config b = load_preset("enwik8-local-12x512");
    EXPECT_EQ(mixer_traits(b.model).window, 32);
    EXPECT_EQ(b.model.own.read<BiasTableSettings>().factors, 256);
    EXPECT_EQ(b.train.weight_decay, 0.5);
    const Config c = load_preset("imagenet-conv-small-384-15");
    EXPECT_EQ(mixer_traits(c.model).window, 15);
    Config shown = c;
    SettingRows rows = shown.rows();
    EXPECT_EQ(value_text(*find_setting(rows, "train.label_smoothing")), "0.1");
    EXPECT_EQ(value_text(*find_setting(rows, "model.input_norm")), "imagenet");
    EXPECT_EQ(c.train.stochastic_depth, 0.1);
    EXPECT_EQ(c.data.resolved().mixup, 0.8);
    EXPECT_EQ(c.data.resolved().erasing, 0.25);
    EXPECT_EQ(c.train.batch, 1024);
}

}  // namespace
}  // namespace aft
