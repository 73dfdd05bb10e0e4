// Colour maps and scales as numbers: hand cases, ends, NaN, ranges, histograms.
#include "core/images/colormap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aft {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Scale kScales[] = {Scale::linear,        Scale::root,       Scale::log,
                             Scale::signed_linear, Scale::signed_log, Scale::two_sided};

Rgb hex(uint32_t rgb) {
    return {uint8_t(rgb >> 16), uint8_t(rgb >> 8), uint8_t(rgb)};
}

double lightness(const Rgb& c) {  // CIE L*
    const auto linear = [](uint8_t byte) {
        const double v = byte / 255.0;
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    const double y = 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
    return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

TEST(Colormap, EmberRunsThroughItsStops) {
    const auto& dark = colormap_table(Colormap::ember_dark);
    EXPECT_EQ(dark[0], hex(0xE3F3FD));
    EXPECT_EQ(dark[255], hex(0xFFF1CC));
    EXPECT_EQ(dark[204], hex(0xDD8526));  // x = 0.6: three of five steps from 0
    EXPECT_EQ(map_color(0, {-1, 1}, Scale::signed_linear, Colormap::ember_light)[0], 0xF4);
}

TEST(Colormap, PublishedTablesAtKnownPlaces) {
    const auto& viridis = colormap_table(Colormap::viridis);
    const std::pair<size_t, uint32_t> known[] = {{0, 0x440154},   {64, 0x3B528B},  {128, 0x21918C},
                                                 {191, 0x5CC863}, {242, 0xDDE318}, {255, 0xFDE725}};
    for (const auto& [at, rgb] : known)
        for (size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(viridis[at][c], hex(rgb)[c], 1) << "entry " << at << " channel " << c;
    const auto& cividis = colormap_table(Colormap::cividis);
    const std::pair<size_t, uint32_t> kept[] = {
        {0, 0x00224E}, {60, 0x3F4C6C}, {128, 0x7D7C78}, {200, 0xC4B468}, {255, 0xFEE838}};
    for (const auto& [at, rgb] : kept)
        for (size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(cividis[at][c], hex(rgb)[c], 1) << "entry " << at << " channel " << c;
}

TEST(Colormap, ArmsOfEmberAgreeInLightnessAndAreMonotonic) {
    for (const Colormap map : {Colormap::ember_dark, Colormap::ember_light}) {
        const auto& table = colormap_table(map);
        const double sign = map == Colormap::ember_dark ? 1 : -1;
        for (size_t i = 128; i < 255; ++i) {
            EXPECT_NEAR(lightness(table[i]), lightness(table[255 - i]), 7) << i;
            EXPECT_GT(sign * (lightness(table[i + 1]) - lightness(table[i])), -0.3) << i;
            EXPECT_GT(sign * (lightness(table[254 - i]) - lightness(table[255 - i])), -0.3) << i;
        }
    }
}

TEST(Colormap, SignedLogIsEquallyStrongOnBothSides) {
    const Range range{-1, 5.5};
    for (const double v : {0.01, 0.3, 0.9}) {
        const double up = scale_position(v, range, Scale::signed_log) - 0.5;
        const double down = 0.5 - scale_position(-v, range, Scale::signed_log);
        EXPECT_NEAR(up, down, 1e-12) << v;
    }
    // By hand: M = 5.5, c = 0.25; s(-1)/s(5.5) = log 5 / log 23.
    EXPECT_NEAR(scale_position(-1, range, Scale::signed_log),
                0.5 - 0.5 * std::log(5.0) / std::log(23.0), 1e-12);
    EXPECT_DOUBLE_EQ(scale_position(-7, range, Scale::signed_log),
                     scale_position(-1, range, Scale::signed_log));  // the floor
    EXPECT_DOUBLE_EQ(scale_position(5.5, range, Scale::signed_log), 1);
    EXPECT_DOUBLE_EQ(scale_position(0, range, Scale::signed_log), 0.5);
    // Small biases of early training: c follows M, so a tenth of the range is far from 0.
    EXPECT_GT(scale_position(0.001, {-0.01, 0.01}, Scale::signed_log), 0.55);
}

TEST(Colormap, TwoSidedScalesEachArm) {
    const Range range{-0.5, 8};
    EXPECT_DOUBLE_EQ(scale_position(-0.5, range, Scale::two_sided), 0);
    EXPECT_DOUBLE_EQ(scale_position(-0.25, range, Scale::two_sided), 0.25);
    EXPECT_DOUBLE_EQ(scale_position(4, range, Scale::two_sided), 0.75);
    EXPECT_DOUBLE_EQ(scale_position(8, range, Scale::two_sided), 1);
}

TEST(Colormap, UnsignedScalesByHand) {
    EXPECT_DOUBLE_EQ(scale_position(0.25, {0, 1}, Scale::root), 0.5);
    EXPECT_DOUBLE_EQ(scale_position(0.1, {0.01, 1}, Scale::log), 0.5);
    EXPECT_DOUBLE_EQ(scale_position(0, {0, 1}, Scale::log), 0);
    EXPECT_DOUBLE_EQ(scale_position(3, {1, 5}, Scale::linear), 0.5);
}

TEST(Colormap, InverseComesBackOnEveryScale) {
    for (const Scale scale : kScales) {
        const Range range = is_signed_scale(scale) ? Range{-1, 3} : Range{0.01, 3};
        for (const double v : {0.02, 0.4, 1.7, 2.9}) {
            const double p = scale_position(v, range, scale);
            EXPECT_NEAR(scale_value(p, range, scale), v, 1e-9) << int(scale);
        }
    }
}

TEST(Colormap, NotFiniteHasItsOwnColour) {
    for (const Scale scale : kScales) {
        for (const float v : {kNan, kInf, -kInf})
            EXPECT_EQ(map_color(v, {-1, 1}, scale, Colormap::viridis), hex(0xFF2BD6));
        EXPECT_TRUE(std::isnan(scale_position(kNan, {-1, 1}, scale)));
    }
}

TEST(Colormap, EmptyRangesAreNotAnError) {
    for (const Scale scale : kScales) {
        const double p = scale_position(0, {0, 0}, scale);
        EXPECT_TRUE(p >= 0 && p <= 1) << int(scale);
        EXPECT_EQ(histogram(std::vector<float>{0, 0}, {0, 0}, scale, 4).size(), 4U);
    }
}

TEST(Range, PercentilesByHandAndSymmetric) {
    std::vector<float> values;
    for (int i = 0; i <= 1000; ++i) values.push_back(float(i));
    values.push_back(kNan);
    values.push_back(kInf);
    EXPECT_EQ(value_range(values, 100, false), (Range{0, 1000}));
    EXPECT_EQ(value_range(values, 99.8, false), (Range{2, 998}));
    values = {-3, 1, 2};
    EXPECT_EQ(value_range(values, 100, true), (Range{-3, 3}));
    EXPECT_EQ(value_range({}, 100, false), (Range{0, 1}));
    const ClippedShare share = clipped_share(std::vector<float>{-2, 0, 1, 9, kNan}, {-1, 2});
    EXPECT_DOUBLE_EQ(share.below, 0.25);
    EXPECT_DOUBLE_EQ(share.above, 0.25);
}

TEST(Histogram, CountsLieWhereTheBarShowsTheirColour) {
    const std::vector<float> values = {-1, -0.9F, 0, 1, 1, 5, 7, kNan};
    for (const Scale scale : {Scale::signed_log, Scale::two_sided, Scale::signed_linear}) {
        const Range range{-1, 5};
        const auto bars = histogram(values, range, scale, 10);
        float total = 0;
        for (const float b : bars) total += b;
        EXPECT_EQ(total, 6) << "7 and NaN are outside";
        const double first = scale_position(-1, range, scale);
        const double at = (scale_position(1, range, scale) - first) / (1 - first) * 10;
        EXPECT_GE(bars[size_t(at)], 2) << int(scale);
    }
}

TEST(Histogram, OfADistributionIsTheSameForRangeAfterRange) {
    std::vector<float> values = {kNan, kInf, -kInf, 0, -0.0F, 1, 1};
    for (int i = 0; i < 5000; ++i)
        values.push_back(float(std::sin(i * 0.7) * std::exp(std::sin(i * 0.13) * 4)));
    Distribution distribution(values);
    for (const Scale scale : {Scale::linear, Scale::root, Scale::log, Scale::signed_linear,
                              Scale::signed_log, Scale::two_sided})
        for (const Range range : {Range{-1, 5}, Range{0, 1}, Range{0.5, 40}, Range{-60, 60},
                                  Range{100, 200}, Range{3, 3}, Range{5, -1}, Range{-kInf, 2},
                                  Range{0, kInf}, Range{kNan, 1}, Range{0, kNan}}) {
            EXPECT_EQ(distribution.histogram(range, scale, 60), histogram(values, range, scale, 60))
                << int(scale) << ", " << range.low << " to " << range.high;
            const ClippedShare share = distribution.clipped_share(range),
                               same = clipped_share(values, range);
            EXPECT_EQ(share.below, same.below);
            EXPECT_EQ(share.above, same.above);
        }
    EXPECT_EQ(Distribution().histogram({0, 1}, Scale::linear, 3), std::vector<float>(3, 0.0F));
}

TEST(Colorize, WritesBlocksOfWholePixels) {
    const std::vector<float> values = {0, 1, kNan, 0.5F};
    const Image image = colorize({values, 2, 2}, {{0, 1}, Scale::linear, Colormap::grey}, 3);
    ASSERT_EQ(image.width, 6);
    ASSERT_EQ(image.pixels.size(), 6U * 6 * 3);
    const auto pixel = [&](int y, int x) {
        const uint8_t* p = &image.pixels[size_t(y * 6 + x) * 3];
        return Rgb{p[0], p[1], p[2]};
    };
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(pixel(k, 2 - k), hex(0x000000));
        EXPECT_EQ(pixel(k, 3 + k), hex(0xFFFFFF));
        EXPECT_EQ(pixel(3 + k, k), hex(0xFF2BD6));
        EXPECT_EQ(pixel(5 - k, 3 + k), hex(0x808080));
    }
}

}  // namespace
}  // namespace aft
