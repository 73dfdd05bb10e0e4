#include "core/event_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace aft {
namespace {

TEST(EventWords, AreThoseOfTheText) {
    EXPECT_EQ(event_words({{"text", "train.clip 1 to 2"}}), "train.clip 1 to 2");
    EXPECT_EQ(event_words("a note"), "a note");
    EXPECT_EQ(event_words(nullptr), "");
    EXPECT_EQ(event_words({{"steps", 3}}), R"({"steps":3})");
}

TEST(EventWords, OfALineThatHoldsJson) {
    EXPECT_EQ(log_line_words(R"(2026-01-01T00:00:00Z step 3 setting: {"text":"train.clip 1"})"),
              "2026-01-01T00:00:00Z step 3 setting: train.clip 1");
    EXPECT_EQ(log_line_words(R"(2026-01-01T00:00:00Z step 320 save: {"text":""})"), "")
        << "the line before it says so";
    EXPECT_EQ(log_line_words(R"(step 4 lost: {"text":""})"), "step 4 lost");
    for (const char* line : {"", "saved step 320", "a: {", "a: {broken}", "a: {} b"})
        EXPECT_EQ(log_line_words(line), line);
}

}  // namespace
}  // namespace aft
