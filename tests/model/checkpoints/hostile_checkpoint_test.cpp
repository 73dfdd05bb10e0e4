// Checkpoints of strangers: deep or repeated metadata, vast values, tensors without end, names that
// a terminal would obey. Each is one short error with the file's name.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/jobs.h"
#include "model/train/trainer.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

std::string deep_list() {
    return std::string(100000, '[') + "1" + std::string(100000, ']');
}

// What is said of a checkpoint whose description, as a text, is changed.
template <class Change>
std::string hostile_error(const Change& change) {
    const Scratch folder;
    write_checkpoint(folder / "a", Trainer(tiny_config(), at::kCPU).checkpoint(true));
    TensorFile file = read_tensors(folder / "a");
    change(file.metadata["afterimage"]);
    write_tensors(folder / "b", file);
    std::string message = error_of([&] { (void)make_net(read_checkpoint(folder / "b")); });
    EXPECT_TRUE(message.starts_with((folder / "b").string())) << message.substr(0, 300);
    EXPECT_LT(message.size(), 600U) << message.substr(0, 300);
    EXPECT_EQ(message, printable_line(message));
    return message;
}

void put_first(std::string& text, const std::string& key, const std::string& value) {
    const size_t at = text.find('{', text.find("\"" + key + "\":"));
    ASSERT_NE(at, std::string::npos) << key;
    text.insert(at + 1, value);
}

TEST(HostileCheckpoint, DeepValuesAreRefused) {
    for (const std::string key : {"model", "metrics", "training", "random"}) {
        const std::string message = hostile_error([&](std::string& text) {
            if (key == "metrics") text.insert(1, "\"metrics\": {},");
            put_first(text, key, "\"deep\": " + deep_list() + (key == "metrics" ? "" : ","));
        });
        EXPECT_TRUE(has(message, "64 levels")) << key << ": " << message;
    }
    EXPECT_TRUE(has(hostile_error([](std::string& text) { text = deep_list(); }), "64 levels"));
}

TEST(HostileCheckpoint, AKeyIsThereOnlyOnce) {
    const std::string message =
        hostile_error([](std::string& text) { put_first(text, "model", "\"layers\": 1,"); });
    EXPECT_TRUE(has(message, "'layers' is there twice")) << message;
}

TEST(HostileCheckpoint, LongValuesAreSaidInShort) {
    const std::string vast(400000, 'x');
    const std::string values[] = {"\"" + vast + "\"", "[\"" + vast + "\"]",
                                  "{\"" + vast + "\": 1}"};
    for (const std::string& value : values) {
        for (const std::string key : {"step", "format_version", "task", "metrics", "config"}) {
            if (key == "metrics" && value.starts_with("{")) continue;  // a metric of a long name
            hostile_error([&](std::string& text) {
                nlohmann::json json = nlohmann::json::parse(text);
                json[key] = nlohmann::json::parse(value);
                text = json.dump();
            });
        }
        for (const char* key : {"channels", "mixer", "dropout", "positions"})
            hostile_error([&](std::string& text) {
                nlohmann::json json = nlohmann::json::parse(text);
                json["config"]["model"][key] = nlohmann::json::parse(value);
                text = json.dump();
            });
    }
    hostile_error([&](std::string& text) { text.insert(1, "\"" + vast + "\": 1,"); });
}

TEST(HostileCheckpoint, EscapesInKeysStayEscapes) {
    const std::string message =
        hostile_error([](std::string& text) { text.insert(1, "\"\\u001b[2J\\u009b\": 1,"); });
    EXPECT_TRUE(has(message, "\\x1b[2J\\x9b")) << message;
}

// Ten of them by name and the rest as a number.
TEST(HostileCheckpoint, TensorsThatDoNotBelongAreCounted) {
    constexpr int kMany = 20000;
    const Scratch folder;
    Checkpoint checkpoint = Trainer(tiny_config(), at::kCPU).checkpoint(false);
    for (int i = 0; i < kMany; ++i)
        checkpoint.weights.emplace_back(fmt::format("\x1b[31mwonder.{}", i), at::zeros({1}));
    write_checkpoint(folder / "many", checkpoint);
    const std::string message = error_of([&] { (void)make_net(read_checkpoint(folder / "many")); });
    EXPECT_TRUE(message.starts_with((folder / "many").string())) << message.substr(0, 200);
    EXPECT_TRUE(has(message, "'\\x1b[31mwonder.0' [1] is not part of the net"))
        << message.substr(0, 400);
    EXPECT_TRUE(has(message, fmt::format("(and {} more)", kMany - 10))) << message.substr(0, 2000);
    EXPECT_LT(message.size(), 2000U);
    RunRequest request;
    request.model = request.in = (folder / "many").string();
    const std::string run = error_of([&] { (void)run_job(request); });
    EXPECT_LT(run.size(), 2000U);
}

// What is wrong with a model alone is said with its file.
TEST(HostileCheckpoint, SettingsThatContradictNameTheFile) {
    const std::string message = hostile_error([](std::string& text) {
        nlohmann::json json = nlohmann::json::parse(text);
        json["config"]["model"]["mixer"] = "aft-local";
        json["config"]["model"]["heads"] = 2;
        text = json.dump();
    });
    EXPECT_TRUE(has(message, "aft-local has no heads")) << message;
}

TEST(HostileCheckpoint, APredictionThatIsNotANumberNamesTheFile) {
    const Scratch folder;
    Checkpoint checkpoint = Trainer(tiny_config(), at::kCPU).checkpoint(false);
    for (auto& [name, tensor] : checkpoint.weights)
        if (name.starts_with("head."))
            tensor = at::full_like(tensor, std::numeric_limits<float>::quiet_NaN());
    write_checkpoint(folder / "nan", checkpoint);
    CompleteRequest request;
    request.model = (folder / "nan").string();
    request.data = checkpoint.config.data.source;
    request.keep_rows = 1;
    request.out = (folder / "out").string();
    const std::string message = error_of([&] { (void)complete_job(request, {}); });
    EXPECT_TRUE(message.starts_with(request.model)) << message;
    EXPECT_TRUE(has(message, "is not a number")) << message;
}

}  // namespace
}  // namespace aft
