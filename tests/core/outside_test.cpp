// Text from outside: what a terminal or the window would obey becomes an escape.
#include "core/outside.h"

#include <gtest/gtest.h>

namespace aft {
namespace {

TEST(Outside, PlainTextStaysAsItIs) {
    for (const char* text :
         {"", "blocks.0.mixer.q.weight", "caf\u00e9 \u2013 \u4e2d\u6587 \U0001f600", "\ue5cd icon",
          "a\\b \"c\""}) {
        EXPECT_EQ(printable(text), text);
        EXPECT_EQ(printable_line(text), text);
        EXPECT_EQ(PrintableText(text).get(), text);
        EXPECT_EQ(PrintableText(text).get().data(), text) << "not copied";
    }
}

TEST(Outside, ControlsBecomeEscapes) {
    EXPECT_EQ(printable_line("\x1b[31mred\x07\x7f\r"), "\\x1b[31mred\\x07\\x7f\\x0d");
    EXPECT_EQ(printable_line(std::string("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable_line("\u009b2J\u0080"), "\\x9b2J\\x80");
    EXPECT_EQ(printable_line("a\u202eb\u2066c\u2028"), "a\\u202eb\\u2066c\\u2028");
    EXPECT_EQ(printable_line("a\nb\tc"), "a\\nb\\tc");
    EXPECT_EQ(printable("a\nb\tc\x1b"), "a\nb\tc\\x1b");
    EXPECT_EQ(PrintableText("x\x1b").get(), "x\\x1b");
}

TEST(Outside, WhatIsNoUtf8BecomesEscapes) {
    EXPECT_EQ(printable_line("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(printable_line("a\xc3"), "a\\xc3") << "cut off";
    EXPECT_EQ(printable_line("\xc0\x9b"), "\\xc0\\x9b") << "overlong";
    EXPECT_EQ(printable_line("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "overlong";
    EXPECT_EQ(printable_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(printable_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
    EXPECT_EQ(printable_line("\x9b"), "\\x9b") << "a C1 control of eight bits";
}

// Whatever goes in, nothing that needs an escape comes out.
TEST(Outside, EscapingTwiceChangesNothing) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        for (const int j : {0, 27, 65, 128, 155, 194, 226, 255})
            all += {static_cast<char>(i), static_cast<char>(j)};
    EXPECT_EQ(printable_line(printable_line(all)), printable_line(all));
}

TEST(Outside, MessagesShowAtMost80Characters) {
    EXPECT_EQ(shown(std::string(80, 'x')), std::string(80, 'x'));
    EXPECT_EQ(shown(std::string(81, 'x')), std::string(80, 'x') + "...");
    std::string wide;
    for (int i = 0; i < 100; ++i) wide += "\u00e9";
    EXPECT_EQ(shown(wide), wide.substr(0, 160) + "...") << "whole characters";
    EXPECT_EQ(shown_path("runs/a\x1b/b"), "runs/a\\x1b/b");
    EXPECT_TRUE(shown_path(std::string(5000, 'a') + "/last").ends_with("/last"));
    EXPECT_LT(shown_path(std::string(5000, 'a')).size(), 100U);
}

TEST(Outside, TenNamesAndACount) {
    EXPECT_EQ(shown_names({}), "");
    EXPECT_EQ(shown_names({"a", "b\x1b"}), "a, b\\x1b");
    const std::string many = shown_names(std::vector<std::string>(200000, "w"));
    EXPECT_TRUE(many.ends_with("w and 199990 more")) << many;
}

}  // namespace
}  // namespace aft
