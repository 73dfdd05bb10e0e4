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

// Every key that any room declares is read with some mixer and some task.
TEST(UnreadSettings, EveryKeyIsReadSomewhere) {
    std::set<std::string> never;
    bool is_first = true;
    for (const TaskRoom& task : tasks())
        for (const MixerRoom& room : mixers()) {
            Config config;
            config.model.task = task.info.name;
            config.model.mixer = room.info.name;
            const std::set<std::string> unread = unread_settings(config);
            if (is_first) never = unread;
            std::erase_if(never, [&](const std::string& key) { return !unread.contains(key); });
            is_first = false;
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
