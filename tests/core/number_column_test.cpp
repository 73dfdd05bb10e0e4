// Columns read back bit for bit in every encoding, and a copy stays as it is.
#include "core/number_column.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <thread>

namespace aft {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> made(size_t n, const std::function<double(size_t)>& value) {
    std::vector<double> out;
    for (size_t i = 0; i < n; ++i) out.push_back(value(i));
    return out;
}

NumberColumn column_of(const std::vector<double>& values) {
    NumberColumn column;
    for (const double v : values) column.push_back(v);
    return column;
}

bool is_same(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

std::vector<std::vector<double>> kinds(size_t n) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    return {
        made(n, [](size_t i) { return double(i + 1); }),                          // float32
        made(n, [](size_t) { return 0.1; }),                                      // constant
        made(n, [](size_t) { return kNan; }),                                     // missing
        made(n, [&](size_t) { return normal(random); }),                          // float64
        made(n, [&](size_t) { return double(float(normal(random))); }),           // float32
        made(n, [&](size_t i) { return i % 100 == 7 ? normal(random) : kNan; }),  // sparse
        made(n, [&](size_t i) { return i % 3 == 0 ? kNan : normal(random); }),
        made(n, [](size_t i) { return i % 2 == 0 ? 0.0 : -0.0; }),
        made(n, [](size_t i) { return i % 500 == 3   ? kInf
                                      : i % 700 == 1 ? -kInf
                                                     : 1e300; }),
        made(n, [](size_t i) { return 16777216.0 + double(i); }),  // beyond float32
    };
}

TEST(NumberColumn, ReadsBackBitForBit) {
    for (const size_t n : {size_t{0}, size_t{1}, NumberColumn::kChunk - 1, NumberColumn::kChunk,
                           2 * NumberColumn::kChunk + 77})
        for (const auto& values : kinds(n)) {
            const NumberColumn column = column_of(values);
            ASSERT_EQ(column.size(), n);
            for (size_t i = 0; i < n; ++i) ASSERT_TRUE(is_same(column[i], values[i])) << i;
        }
}

TEST(NumberColumn, FindsTheFirstOfTheExtremes) {
    constexpr size_t kRows = 2 * NumberColumn::kChunk + 77;
    std::mt19937_64 random(3);
    for (const auto& values : kinds(kRows)) {
        const NumberColumn column = column_of(values);
        for (int i = 0; i < 200; ++i) {
            const size_t begin = random() % kRows, end = begin + random() % (kRows - begin + 1);
            std::optional<ExtremeRows> expected;
            for (size_t row = begin; row < end; ++row) {
                if (std::isnan(values[row])) continue;
                if (!expected) expected = ExtremeRows{row, row};
                if (values[row] < values[expected->low]) expected->low = row;
                if (values[row] > values[expected->high]) expected->high = row;
            }
            const auto found = column.extremes(begin, end);
            ASSERT_EQ(found.has_value(), expected.has_value());
            if (!found) continue;
            ASSERT_EQ(found->low, expected->low) << begin << " to " << end;
            ASSERT_EQ(found->high, expected->high) << begin << " to " << end;
        }
    }
}

TEST(NumberColumn, CopiesGoTheirOwnWay) {
    for (const size_t n : {size_t{0}, size_t{5}, NumberColumn::kChunk, NumberColumn::kChunk + 5}) {
        NumberColumn first = column_of(made(n, [](size_t i) { return double(i); }));
        NumberColumn second = first;
        for (int i = 0; i < 3; ++i) first.push_back(-1);
        for (int i = 0; i < 2; ++i) second.push_back(-2);
        ASSERT_EQ(first.size(), n + 3);
        ASSERT_EQ(second.size(), n + 2);
        for (size_t i = 0; i < n; ++i) ASSERT_EQ(first[i], second[i]);
        EXPECT_EQ(first[n], -1);
        EXPECT_EQ(second[n], -2);
        EXPECT_FALSE(n > 0 && first.continues(second));
        EXPECT_FALSE(n > 0 && second.continues(first));
    }
}

TEST(NumberColumn, ContinuesWhatItWas) {
    NumberColumn column = column_of({1, 2});
    const NumberColumn before = column;
    for (size_t i = 0; i < 2 * NumberColumn::kChunk; ++i) column.push_back(double(i));
    EXPECT_TRUE(column.continues(before));
    EXPECT_TRUE(column.continues(NumberColumn()));
    EXPECT_FALSE(before.continues(column));
    EXPECT_FALSE(column_of({1, 2}).continues(before));
    EXPECT_EQ(before.size(), 2u);
    EXPECT_EQ(before.back(), 2);
}

TEST(NumberColumn, TakesLittleMemory) {
    constexpr size_t kRows = 100 * NumberColumn::kChunk;
    const auto bytes = [&](const std::function<double(size_t)>& value) {
        return double(bytes_of(column_of(made(kRows, value)))) / double(kRows);
    };
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    EXPECT_LT(bytes([](size_t) { return kNan; }), 0.2);
    EXPECT_LT(bytes([](size_t i) { return i % 500 == 0 ? 0.1 * double(i) : kNan; }), 0.3);
    EXPECT_LT(bytes([&](size_t) { return double(float(normal(random))); }), 4.4);
    EXPECT_LT(bytes([&](size_t) { return normal(random); }), 8.4);
}

TEST(NumberColumn, IsReadWhileItGrows) {
    NumberColumn column;
    column.push_back(0);
    std::vector<NumberColumn> copies(64);
    std::vector<std::thread> readers;
    std::atomic<bool> is_whole = true;
    for (NumberColumn& copy : copies) {
        for (int i = 0; i < 300; ++i) column.push_back(double(column.size()));
        copy = column;
        readers.emplace_back([&copy, &is_whole] {
            for (size_t i = 0; i < copy.size(); ++i)
                if (copy[i] != double(i)) is_whole = false;
        });
    }
    for (std::thread& reader : readers) reader.join();
    EXPECT_TRUE(is_whole);
}

}  // namespace
}  // namespace aft
