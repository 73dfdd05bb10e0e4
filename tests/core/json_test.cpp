// The one reader of JSON from outside: depth, repeated keys, short messages that name the file.
#include "core/json.h"

#include <gtest/gtest.h>

#include "core/outside.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

std::string json_error(const std::string& text) {
    return error_of([&] { (void)parse_json(text, {.file = "a.json"}); });
}

std::string nested(size_t levels, const std::string& open, const std::string& close) {
    std::string text;
    for (size_t i = 0; i < levels; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < levels; ++i) text += close;
    return text;
}

TEST(Json, ValuesAreThoseOfTheText) {
    const std::string text =
        R"({"a": [1, -2, 2.5, true, null, "x\u00e9", []], "b": {"c": {}, "d": [[3], {"e": 4}]}})";
    EXPECT_EQ(parse_json(text, {.file = "a.json"}), nlohmann::json::parse(text));
    for (const char* plain : {"7", "\"t\"", "null", "[]", " {} "})
        EXPECT_EQ(parse_json(plain, {.file = "a.json"}), nlohmann::json::parse(plain));
}

TEST(Json, MoreThan64LevelsAreRefused) {
    EXPECT_EQ(json_error(nested(64, "[", "]")), "");
    EXPECT_EQ(json_error(nested(64, "{\"a\":", "}")), "");
    for (const size_t levels : {size_t{65}, size_t{100000}}) {
        for (const auto& [open, close] :
             {std::pair("[", "]"), std::pair("{\"a\":", "}"), std::pair("[{\"a\":", "}]")}) {
            const std::string message = json_error(nested(levels, open, close));
            EXPECT_TRUE(has(message, "a.json")) << message;
            EXPECT_TRUE(has(message, "64 levels")) << message;
        }
    }
    EXPECT_TRUE(has(json_error(std::string(1000000, '[')), "64 levels")) << "never closed";
}

TEST(Json, LevelsAreThoseThatAreOpen) {
    std::string text = "[";
    for (int i = 0; i < 500; ++i) text += "[{\"a\": []}],";
    EXPECT_EQ(json_error(text + "1]"), "");
}

TEST(Json, AKeyIsThereOnlyOnce) {
    const std::string twice = json_error(R"({"a": {"b": 1, "c": 2, "b": 3}})");
    EXPECT_TRUE(has(twice, "a.json")) << twice;
    EXPECT_TRUE(has(twice, "'b' is there twice")) << twice;
    EXPECT_EQ(json_error(R"({"a": {"b": 1}, "b": {"a": 1}, "c": [{"b": 1}, {"b": 2}]})"), "");
    const std::string long_key(100000, 'k');
    const std::string message = json_error("{\"" + long_key + "\":1,\"" + long_key + "\":2}");
    EXPECT_LT(message.size(), 200U) << message.substr(0, 300);
}

TEST(Json, MessagesAreShortAndName) {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[1,]"), std::string("nul"),
          std::string("[1] 2"), std::string("\"\x1b[2J\""), std::string("[\xff\xfe]"),
          std::string("1e999"), std::string(400000, '9'), "\"" + std::string(400000, 'x'),
          std::string(400000, 'x'), "[\"" + std::string(400000, 'x') + "\x01\"]"}) {
        const std::string message = json_error(text);
        EXPECT_TRUE(message.starts_with("a.json: ")) << text.substr(0, 50) << ": " << message;
        EXPECT_LT(message.size(), 400U) << text.substr(0, 50);
        EXPECT_EQ(message, printable_line(message));
    }
}

TEST(Json, LinesAndFilesAreNamed) {
    const std::string message =
        error_of([] { (void)parse_json("{\"step\":", {.file = "m.jsonl", .line_at = 4711}); });
    EXPECT_TRUE(has(message, "m.jsonl: the line at byte 4711 is not valid JSON")) << message;
    const Scratch folder;
    put(folder / "good.json", "{\"a\": 3}");
    put(folder / "bad.json", "{\"a\": 3");
    EXPECT_EQ(read_json_file(folder / "good.json", 1000).at("a"), 3);
    for (const char* name : {"bad.json", "missing.json"}) {
        const std::string said =
            error_of([&] { (void)read_json_file(folder / name, 1000, ErrorKind::usage); });
        EXPECT_TRUE(has(said, (folder / name).string())) << said;
    }
    EXPECT_TRUE(has(error_of([&] { (void)read_json_file(folder / "good.json", 3); }), "good.json"));
}

TEST(Json, WhatWasFoundIsSaidInShort) {
    EXPECT_EQ(found_json(3), "3");
    EXPECT_EQ(found_json("abc"), "\"abc\"");
    EXPECT_EQ(found_json(nullptr), "null");
    EXPECT_EQ(found_json({1, 2}), "an array [1,2]");
    EXPECT_EQ(found_json({{"a", 1}}), "an object {\"a\":1}");
    const std::string text = found_json(std::string(400000, 'x'));
    EXPECT_TRUE(text.starts_with("a string \"xxx")) << text.substr(0, 100);
    EXPECT_LT(text.size(), 100U);
    EXPECT_LT(found_json(std::vector<int>(100000, 7)).size(), 100U);
    EXPECT_EQ(found_json("\x1b[2J\xc2\x9b"), "\"\\u001b[2J\\x9b\"");
}

TEST(Json, WhatIsNotUtf8IsWrittenAsAReplacement) {
    const nlohmann::json value = {{"path", "caf\xe9"}};
    EXPECT_EQ(json_text(value), "{\"path\":\"caf\ufffd\"}");
    EXPECT_EQ(json_text(value, 1), "{\n \"path\": \"caf\ufffd\"\n}");
    EXPECT_EQ(json_text(nlohmann::ordered_json{{"b", "\xff"}, {"a", 1}}),
              "{\"b\":\"\ufffd\",\"a\":1}");
}

class Counting : public JsonEvents {
  public:
    int64_t values = 0;
    bool null() override { return ++values > 0; }
    bool boolean(bool) override { return ++values > 0; }
    bool number_integer(int64_t) override { return ++values > 0; }
    bool number_unsigned(uint64_t) override { return ++values > 0; }
    bool number_float(double, const std::string&) override { return ++values > 0; }
    bool string(std::string&) override { return ++values > 0; }
    bool binary(nlohmann::json::binary_t&) override { return ++values > 0; }
    bool start_object(size_t) override { return true; }
    bool start_array(size_t) override { return true; }
    bool end_object() override { return true; }
    bool end_array() override { return true; }
    bool key(std::string&) override { return true; }
    bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }
};

TEST(Json, EventsKeepTheSameLimits) {
    Counting events;
    scan_json(R"({"a": [1, -2, 2.5, true, null, "x"]})", {.file = "a.json"}, events);
    EXPECT_EQ(events.values, 6);
    const auto scanned = [](const std::string& text) {
        return error_of([&] {
            Counting counting;
            scan_json(text, {.file = "a.json"}, counting);
        });
    };
    EXPECT_EQ(scanned(nested(64, "[", "]")), "");
    EXPECT_TRUE(has(scanned(nested(65, "[", "]")), "64 levels"));
    EXPECT_TRUE(has(scanned(nested(100000, "{\"a\":", "}")), "64 levels"));
    EXPECT_TRUE(has(scanned("{\"a\": 1"), "a.json: not valid JSON"));
}

}  // namespace
}  // namespace aft
