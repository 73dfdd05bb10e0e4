#include "core/settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "tests/core/oven.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

std::string refused_text(const char* key, const char* text) {
    OvenSettings oven;
    SettingRows rows = oven.rows();
    const nlohmann::json before = settings_to_json(rows);
    const std::string words = refusal([&] { set_from_text(rows, key, text); });
    EXPECT_EQ(settings_to_json(rows), before) << "changed by a refused value";
    return words;
}

TEST(Settings, TextOfEveryKind) {
    OvenSettings oven;
    SettingRows rows = oven.rows();
    set_from_text(rows, "oven.trays", "7");
    set_from_text(rows, "oven.heat", "2.5e2");
    set_from_text(rows, "oven.fan", "on");
    set_from_text(rows, "oven.mode", "grill");
    set_from_text(rows, "oven.door.label", "a=b c");
    EXPECT_EQ(oven.trays, 7);
    EXPECT_EQ(oven.heat, 250);
    EXPECT_TRUE(oven.fan);
    EXPECT_EQ(oven.mode, "grill");
    EXPECT_EQ(oven.label, "a=b c");
    set_from_text(rows, "oven.trays", "0.5e1");
    EXPECT_EQ(oven.trays, 5) << "a whole number may be written with an exponent";
}

TEST(Settings, RefusalsNameKeyFoundAndAllowed) {
    const std::string range = refused_text("oven.trays", "9");
    EXPECT_NE(range.find("oven.trays"), std::string::npos) << range;
    EXPECT_NE(range.find("'9'"), std::string::npos) << range;
    EXPECT_NE(range.find("1 to 8"), std::string::npos) << range;
    const std::string choice = refused_text("oven.mode", "fry");
    EXPECT_NE(choice.find("fry"), std::string::npos) << choice;
    EXPECT_NE(choice.find("bake, grill"), std::string::npos) << choice;
    const std::string unknown = refused_text("oven.tray", "3");
    EXPECT_NE(unknown.find("did you mean 'oven.trays'"), std::string::npos) << unknown;
    const std::string short_key = refused_text("heat", "3");
    EXPECT_NE(short_key.find("did you mean 'oven.heat'"), std::string::npos) << short_key;
    for (const char* bad : {"", "3.5", "x", "3 ", "0x3", "99999999999999999999", "nan", "1e300"})
        EXPECT_NE(refused_text("oven.trays", bad).find("oven.trays"), std::string::npos) << bad;
    for (const char* bad : {"", "warm", "nan", "1,5", "-1", "--1"})
        EXPECT_NE(refused_text("oven.heat", bad).find("oven.heat"), std::string::npos) << bad;
    EXPECT_NE(refused_text("oven.fan", "maybe").find("true, false"), std::string::npos);
}

TEST(Settings, JsonBothWaysIsExact) {
    for (const double heat : {0.1, 1.0 / 3, 1e-300, 123456789.123456789, 5e-324}) {
        OvenSettings oven;
        oven.heat = heat;
        oven.fan = true;
        oven.label = "a \"quoted\" \xC3\xA4";
        const std::string text = settings_to_json(oven.rows()).dump();
        OvenSettings copy;
        SettingRows rows = copy.rows();
        settings_from_json(rows, nlohmann::json::parse(text), "oven.json");
        EXPECT_EQ(copy.heat, heat) << text;
        EXPECT_TRUE(copy.fan);
        EXPECT_EQ(copy.label, oven.label);
        EXPECT_EQ(std::strtod(value_text(*find_setting(rows, "oven.heat")).c_str(), nullptr), heat);
    }
}

TEST(Settings, JsonRefusalsNameFileAndKey) {
    const std::vector<std::pair<const char*, const char*>> bad{
        {R"({"oven": {"tray": 3}})", "oven.tray"},
        {R"({"owen": {"trays": 3}})", "owen"},
        {R"({"oven": {"trays": 3.5}})", "oven.trays"},
        {R"({"oven": {"trays": "3"}})", "oven.trays"},
        {R"({"oven": {"trays": 18446744073709551615}})", "oven.trays"},
        {R"({"oven": {"trays": 0}})", "oven.trays"},
        {R"({"oven": {"fan": 1}})", "oven.fan"},
        {R"({"oven": {"mode": "fry"}})", "oven.mode"},
        {R"({"oven": {"door": 3}})", "oven.door"},
        {R"({"oven": 3})", "oven"},
        {R"([1])", "array"}};
    for (const auto& [text, key] : bad) {
        OvenSettings oven;
        SettingRows rows = oven.rows();
        const std::string words = refusal(
            [&, t = text] { settings_from_json(rows, nlohmann::json::parse(t), "kitchen.json"); });
        EXPECT_NE(words.find("kitchen.json"), std::string::npos) << words;
        EXPECT_NE(words.find(key), std::string::npos) << words;
    }
}

TEST(Settings, AllowedInWords) {
    OvenSettings oven;
    SettingRows rows = oven.rows();
    EXPECT_EQ(allowed_text(rows[0]), "allowed: whole numbers 1 to 8");
    EXPECT_EQ(allowed_text(rows[1]), "allowed: at least 0");
    EXPECT_EQ(allowed_text(rows[2]), "allowed: true, false");
    EXPECT_EQ(allowed_text(rows[3]), "allowed: bake, grill");
    EXPECT_EQ(allowed_text(rows[4]), "allowed: any text");
    EXPECT_EQ(find_setting(rows, "oven"), nullptr);
}

// Of a value or a key of any length a message shows its beginning, and its type.
TEST(Settings, LongValuesAreShort) {
    OvenSettings oven;
    SettingRows rows = oven.rows();
    const std::string vast(400000, 'x');
    std::string many = "1";
    for (int i = 0; i < 50000; ++i) many += ",1";
    for (const std::string& text :
         {"{\"oven\": {\"trays\": \"" + vast + "\"}}", "{\"" + vast + "\": 1}",
          "{\"oven\": {\"trays\": [" + many + "]}}"}) {
        const std::string message = error_of(
            [&] { settings_from_json(rows, nlohmann::json::parse(text), "kitchen.json"); });
        EXPECT_TRUE(has(message, "kitchen.json")) << message.substr(0, 200);
        EXPECT_LT(message.size(), 400U);
    }
    EXPECT_LT(error_of([&] { set_from_text(rows, "oven.trays", vast); }).size(), 400U);
    EXPECT_LT(error_of([&] { set_from_text(rows, vast, "1"); }).size(), 400U);
}

}  // namespace
}  // namespace aft
