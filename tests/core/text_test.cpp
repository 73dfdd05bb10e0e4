#include "core/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aft {
namespace {

TEST(Text, thousands_are_split_by_a_space) {
    EXPECT_EQ(group_thousands(0), "0");
    EXPECT_EQ(group_thousands(999), "999");
    EXPECT_EQ(group_thousands(48212), "48 212");
    EXPECT_EQ(group_thousands(-1234567), "\u22121 234 567");
    EXPECT_EQ(group_thousands(std::numeric_limits<int64_t>::min()),
              "\u22129 223 372 036 854 775 808");
}

TEST(Text, signed_numbers_show_their_sign_unless_they_round_to_zero) {
    EXPECT_EQ(signed_number(3.031, 2), "+3.03");
    EXPECT_EQ(signed_number(-3.031, 2), "\u22123.03");
    EXPECT_EQ(signed_number(-0.004, 2), "0.00");
    EXPECT_EQ(signed_number(0.004, 2), "0.00");
    EXPECT_EQ(plain_number(-0.004, 2), "0.00");
    EXPECT_EQ(plain_number(-1.5, 1), "\u22121.5");
    EXPECT_EQ(plain_number(NAN, 1), "NaN");
}

TEST(Text, words_of_a_shell_are_quoted_where_it_would_read_them) {
    EXPECT_EQ(shell_word("runs/mirror-1"), "runs/mirror-1");
    EXPECT_EQ(shell_word("train.steps=5"), "train.steps=5");
    EXPECT_EQ(shell_word("mirror?size=16&levels=16"), "'mirror?size=16&levels=16'");
    EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
    EXPECT_EQ(shell_word("~/runs"), "'~/runs'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, exact_numbers_read_back) {
    for (const float v : {0.0F, -0.1F, 1.0F / 3, 1e-7F, 3.4e38F, 16777217.0F})
        EXPECT_EQ(std::stof(exact_number(v)), v) << exact_number(v);
    EXPECT_EQ(exact_number(-0.1F), "-0.1");
    for (const double v : {0.0, -0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 16777217.0})
        EXPECT_EQ(std::stod(exact_number(v)), v) << exact_number(v);
    EXPECT_EQ(exact_number(double(0.1F)), "0.1") << "it is a float";
    EXPECT_EQ(exact_number(1e-300), "1e-300");
}

TEST(Text, significant_digits_in_either_way_of_writing) {
    EXPECT_EQ(significant(0, 3), "0");
    EXPECT_EQ(significant(-0.0123456, 3), "\u22120.0123");
    EXPECT_EQ(significant(1.23456e-5, 4), "1.235e\u22125");
    EXPECT_EQ(significant(123456, 4), "123 456");
    EXPECT_EQ(significant(1234.5678, 6), "1 234.57");
    EXPECT_EQ(significant(999999.9, 3), "1e6");
    EXPECT_EQ(significant(1.5e9, 4), "1.5e9");
    EXPECT_EQ(significant(NAN, 4), "NaN");
}

TEST(Text, stored_values_have_four_decimals_or_an_exponent) {
    EXPECT_EQ(stored_value(0), "0.0000");
    EXPECT_EQ(stored_value(0.25), "0.2500");
    EXPECT_EQ(stored_value(-12.3456789), "\u221212.3457");
    EXPECT_EQ(stored_value(0.0015), "1.500e\u22123");
    EXPECT_EQ(stored_value(-2e-7), "\u22122.000e\u22127");
    EXPECT_EQ(stored_value(1.25e7), "1.250e7");
    EXPECT_EQ(stored_value(752261.3125), "752 261");
    EXPECT_EQ(stored_value(-12345.6), "\u221212 346");
    EXPECT_EQ(stored_value(345.40291), "345.40");
    EXPECT_EQ(stored_value(-1234.5), "\u22121 234.50");
    EXPECT_EQ(stored_value(999.996), "1 000.00");
    EXPECT_EQ(stored_value(-INFINITY), "\u2212\u221e");
}

TEST(Text, durations_and_sizes) {
    EXPECT_EQ(duration(0.012), "12 ms");
    EXPECT_EQ(duration(4.25), "4.2 s");
    EXPECT_EQ(duration(48.2), "48 s");
    EXPECT_EQ(duration(59.9), "1 min 0 s");
    EXPECT_EQ(duration(171 * 60), "2 h 51 min");
    EXPECT_EQ(duration(90000), "1 d 1 h");
    EXPECT_EQ(duration(INFINITY), "unknown");
    EXPECT_EQ(byte_size(512), "512 B");
    EXPECT_EQ(byte_size(9.8 * 1024 * 1024 * 1024), "9.8 GiB");
    EXPECT_EQ(byte_size(1024 * 1024 - 1), "1.0 MiB");
}

TEST(Text, one_of_a_unit_is_without_its_plural) {
    EXPECT_EQ(counted_unit("steps", true), "step");
    EXPECT_EQ(counted_unit("steps", false), "steps");
    EXPECT_EQ(counted_unit("bits/dim", true), "bits/dim");
    EXPECT_EQ(counted_unit("ms", true), "ms");
    EXPECT_EQ(counted_unit("patches", true), "patch");
    EXPECT_EQ(counted_unit("it/s", true), "it/s");
    EXPECT_EQ(counted_unit("", true), "");
}

TEST(Text, the_nearest_word_is_near_or_nothing) {
    const std::vector<std::string> words = {"train.learning_rate", "train.batch", "model.dim"};
    EXPECT_EQ(nearest_word("train.lerning_rate", words), "train.learning_rate");
    EXPECT_EQ(nearest_word("model.dims", words), "model.dim");
    EXPECT_EQ(nearest_word("elephant", words), "");
    EXPECT_EQ(nearest_word("x", {}), "");
}

TEST(Text, split_keeps_empty_parts) {
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
    EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
}

TEST(Text, tables_have_columns) {
    EXPECT_EQ(aligned_table({{"name", "value"}, {"a\x1b", "5"}, {"long name", "12345"}}, 1),
              "  name       value\n  a\\x1b          5\n  long name  12345\n");
    EXPECT_EQ(aligned_table({{"a", ""}}, 2), "  a\n");
    EXPECT_EQ(aligned_table({}, 0), "");
}

}  // namespace
}  // namespace aft
