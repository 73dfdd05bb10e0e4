// A setting that was given must be read by the rooms that are chosen.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "model/config.h"
#include "model/tasks/task.h"
#include "model/train/trainer.h"
#include "tests/core/scratch.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

std::string refusal_of(const Config& config, const std::string& key) {
    try {
        check_read(config, {key}, "--set ");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "";
}

TEST(UnreadSettings, AreNamedWithTheRoomsThatReadThem) {
    Config config;  // aft-full on pictures
    EXPECT_EQ(refusal_of(config, "model.factors"), "");
    EXPECT_EQ(refusal_of(config, "model.layers"), "");
    const std::string window = refusal_of(config, "model.window");
    for (const char* part : {"--set model.window", "aft-full", "aft-local", "aft-conv1d",
                             "aft-conv2d", "local-softmax", "reformer"})
        EXPECT_TRUE(has(window, part)) << window;
    EXPECT_FALSE(has(window, "aft-simple")) << window;
    const std::string patch = refusal_of(config, "model.patch");
    EXPECT_TRUE(has(patch, "model.task=image")) << patch;
    EXPECT_TRUE(has(patch, "tasks that do: classify")) << patch;
    config.model.task = "classify";
    EXPECT_EQ(refusal_of(config, "model.patch"), "");
    EXPECT_EQ(refusal_of(config, "train.label_smoothing"), "");
    config.model.task = "text";
    EXPECT_TRUE(has(refusal_of(config, "model.height"), "image, classify"));
    EXPECT_EQ(refusal_of(config, "model.length"), "");
}

// Keys that are read by traits of the rooms, or only beside a value of another key.
TEST(UnreadSettings, AreNamedWhereTraitsOrOtherValuesLeaveThemUnread) {
    Config config;  // aft-full with 64 factors, data not augmented
    for (const char* key : {"model.start_token", "train.bias_weight_decay", "model.factor_std",
                            "train.bias_learning_rate_scale"})
        EXPECT_EQ(refusal_of(config, key), "") << key;
    EXPECT_EQ(refusal_of(config, "model.bias_std"),
              "--set model.bias_std: model.factors=64 does not read it; it is read with "
              "model.factors=0");
    config.model.own["factors"] = int64_t{0};
    EXPECT_EQ(refusal_of(config, "model.bias_std"), "");
    EXPECT_EQ(refusal_of(config, "model.factor_std"),
              "--set model.factor_std: model.factors=0 does not read it; it is read with "
              "model.factors above 0");
    config.model.mixer = "aft-conv2d";
    EXPECT_TRUE(has(refusal_of(config, "model.bias_std"), "model.naive_kernel=true"));
    config.model.own["naive_kernel"] = true;
    EXPECT_EQ(refusal_of(config, "model.bias_std"), "");

    EXPECT_TRUE(has(refusal_of(config, "data.rand_augment_ops"), "data.augment=none"));
    config.data.augment = "recipe-c";
    EXPECT_EQ(refusal_of(config, "data.rand_augment_ops"), "");
    config.data.strengths.rand_augment = 0;
    EXPECT_TRUE(has(refusal_of(config, "data.rand_augment_ops"), "data.rand_augment=0"));

    config.model.task = "classify";
    EXPECT_TRUE(has(refusal_of(config, "model.start_token"), "tasks that do: image, text"))
        << refusal_of(config, "model.start_token");
}

TEST(UnreadSettings, OfAPositionBiasAreOfMixersThatLearnOne) {
    for (const char* key : {"train.bias_weight_decay", "train.bias_learning_rate_scale"}) {
        Config config;
        for (const char* mixer : {"aft-full", "aft-local", "aft-conv1d", "aft-conv2d"}) {
            config.model.mixer = mixer;
            EXPECT_EQ(refusal_of(config, key), "") << mixer;
        }
        for (const char* mixer : {"aft-simple", "softmax", "lambda", "synthesizer"}) {
            config.model.mixer = mixer;
            const std::string words = refusal_of(config, key);
            EXPECT_TRUE(has(words, "mixers that do: aft-full, aft-local, aft-conv1d, aft-conv2d"))
                << mixer << ": " << words;
        }
    }
}

TEST(UnreadSettings, StandInNoPreset) {
    for (const PresetInfo& preset : list_presets())
        EXPECT_NO_THROW(static_cast<void>(load_preset(preset.name))) << preset.name;
}

// Every key that any room declares is read with some mixer and some task, beside some values.
TEST(UnreadSettings, EveryKeyIsReadSomewhere) {
    std::set<std::string> never;
    bool is_first = true;
    const auto look = [&](const Config& config) {
        const std::set<std::string> unread = unread_settings(config);
        if (is_first) never = unread;
        std::erase_if(never, [&](const std::string& key) { return !unread.contains(key); });
        is_first = false;
    };
    for (const TaskRoom& task : tasks())
        for (const MixerRoom& room : mixers()) {
            Config config;
            config.model.task = task.info.name;
            config.model.mixer = room.info.name;
            look(config);
            config.data.augment = "recipe-c";
            config.model.own["factors"] = int64_t{0};
            look(config);
        }
    EXPECT_FALSE(is_first);
    EXPECT_TRUE(never.empty()) << *never.begin();
}

TEST(UnreadSettings, AreRefusedInFilesUnlessTheyStandAtTheirDefault) {
    const Scratch folder;
    const auto load = [&](const char* text) {
        put(folder / "mine.json", text);
        static_cast<void>(load_config_file((folder / "mine.json").string()));
    };
    EXPECT_THROW(load(R"({"model": {"mixer": "aft-simple", "window": 3}})"), Error);
    EXPECT_NO_THROW(load(R"({"model": {"mixer": "aft-simple", "window": 0}})"));
    EXPECT_NO_THROW(load(R"({"model": {"mixer": "aft-local", "window": 3}})"));
    // A run folder of another version holds every key, whatever it is.
    put(folder / "config.json", R"({"model": {"mixer": "aft-simple", "window": 3}})");
    EXPECT_NO_THROW(static_cast<void>(load_run_config((folder / "config.json").string())));
}

TEST(UnreadSettings, AreResetWhereAnotherMixerTookTheirPlace) {
    Config config = load_preset("cifar10-small");
    config.model.mixer = "aft-simple";
    reset_unread(config);
    SettingRows rows = config.rows();
    EXPECT_EQ(value_text(*find_setting(rows, "model.window")), "0");
    EXPECT_EQ(config.model.dim, 96) << "what is read stays";
    config.train.own["label_smoothing"] = 0.5;
    reset_unread(config);
    SettingRows again = config.rows();
    EXPECT_EQ(value_text(*find_setting(again, "train.label_smoothing")), "0");
}

// What a run leaves behind can be given again.
TEST(UnreadSettings, AreNotInTheConfigOfATraining) {
    Config config = tiny_config();
    config.model.mixer = "aft-simple";
    config.model.own["window"] = 7;
    const Trainer trainer(config, at::kCPU);
    Config kept = trainer.config();
    SettingRows rows = kept.rows();
    EXPECT_EQ(value_text(*find_setting(rows, "model.window")), "0");
}

}  // namespace
}  // namespace aft
