#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/data/generator.h"
#include "model/data/source.h"
#include "model/jobs.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

constexpr Split kSplits[] = {Split::train, Split::validation, Split::test};

std::vector<std::string> generators() {
    std::vector<std::string> names;
    for (const SourceRoom& room : sources())
        if (room.path_kind.empty()) names.push_back(room.info.name);
    return names;
}

TEST(Generators, have_a_picture) {
    const Image tiles = data_picture("tiles?size=16&levels=16&period=4", 3);
    const Example example =
        open_source("tiles?size=16&levels=16&period=4", 0)->example(Split::test, 3);
    ASSERT_EQ(tiles.pixels.size(), size_t{16 * 16});
    for (size_t i = 0; i < tiles.pixels.size(); ++i)
        EXPECT_EQ(tiles.pixels[i], 17 * example.values[i]) << "15 levels above black";
    const Image shapes = data_picture("shapes?size=32", 0);
    EXPECT_EQ(shapes.channels, 3);
    EXPECT_EQ(shapes.pixels, open_source("shapes?size=32", 0)->example(Split::test, 0).values);
    EXPECT_THROW((void)data_picture("tiles", -1), Error);
    EXPECT_THROW((void)data_picture("nothing", 0), Error);
}

TEST(Generators, are_deterministic_in_seed_and_index) {
    for (const std::string& name : generators()) {
        const auto a = open_source(name, 7), b = open_source(name, 7), c = open_source(name, 8);
        for (Split split : kSplits)
            for (int64_t index : {int64_t{0}, int64_t{5}, a->size(split) - 1}) {
                EXPECT_EQ(a->example(split, index).values, b->example(split, index).values) << name;
                EXPECT_EQ(a->example(split, index).label, b->example(split, index).label) << name;
                EXPECT_NE(a->example(split, index).values, c->example(split, index).values) << name;
            }
    }
}

TEST(Generators, examples_have_the_shape_they_say_and_the_splits_share_none) {
    for (const std::string& name : generators()) {
        const auto source = open_source(name, 1);
        const DataInfo& info = source->info();
        std::set<std::vector<uint8_t>> seen;
        for (Split split : kSplits)
            for (int64_t index = 0; index < 100; ++index) {
                const Example example = source->example(split, index);
                EXPECT_EQ(static_cast<int64_t>(example.values.size()),
                          info.height * info.width * info.channels);
                EXPECT_LT(*std::max_element(example.values.begin(), example.values.end()),
                          info.levels);
                EXPECT_LT(example.label, std::max<int64_t>(1, info.classes));
                EXPECT_TRUE(seen.insert(example.values).second) << name << ' ' << index;
            }
    }
}

TEST(Generators, every_row_of_the_lower_half_mirrors_the_upper_half) {
    const auto source = open_source("mirror?size=12&levels=8", 3);
    for (int64_t index = 0; index < 20; ++index) {
        const auto values = source->example(Split::train, index).values;
        for (size_t y = 6; y < 12; ++y)
            for (size_t x = 0; x < 12; ++x)
                EXPECT_EQ(values[y * 12 + x], values[(11 - y) * 12 + x]);
    }
}

// -log2 p(v | left, up) of the definition, written a second time.
double surprise(const std::vector<uint8_t>& values, int64_t width, int64_t levels, int64_t at) {
    const int64_t x = at % width, y = at / width;
    if (at == 0) return std::log2(static_cast<double>(levels));
    const auto value = [&](int64_t i) {
        return static_cast<double>(values[static_cast<size_t>(i)]);
    };
    double mean = 0;
    if (x > 0) mean += value(at - 1) * (y > 0 ? 0.5 : 1);
    if (y > 0) mean += value(at - width) * (x > 0 ? 0.5 : 1);
    double total = 0;
    for (int64_t v = 0; v < levels; ++v)
        total += std::exp(-std::abs(static_cast<double>(v) - mean) / 0.8);
    return std::log2(total) + std::abs(value(at) - mean) / 0.8 / std::log(2.0);
}

// The documented floor is the sample mean of -log2 p (without shapes the field is all there is).
TEST(Generators, the_floor_of_mirror_is_the_entropy_of_its_field) {
    const auto source = open_source("mirror?shapes=0", 5);
    const DataInfo& info = source->info();
    ASSERT_TRUE(info.floor_bits);
    double sum = 0, squares = 0;
    const int64_t pictures = 600, upper = info.height / 2 * info.width;
    for (int64_t index = 0; index < pictures; ++index) {
        const auto values = source->example(Split::test, index).values;
        double bits = 0;
        for (int64_t at = 0; at < upper; ++at) bits += surprise(values, info.width, 16, at);
        sum += bits;
        squares += bits * bits;
    }
    const double mean = sum / pictures;
    const double error = std::sqrt((squares / pictures - mean * mean) / pictures);
    EXPECT_NEAR(mean, *info.floor_bits * 256, 4 * error);
    // 20 000 pictures of a program written apart from this one gave 1.98487 +- 0.00074.
    EXPECT_NEAR(*info.floor_bits * 2, 1.98487, 0.006) << "bits per upper sub-pixel";
    EXPECT_LT(error / static_cast<double>(upper), 0.01);
}

TEST(Generators, shapes_lower_the_floor_of_mirror_and_the_note_bounds_what_they_add) {
    const auto plain = open_source("mirror?shapes=0", 5), shaped = open_source("mirror", 5);
    EXPECT_LT(*shaped->info().floor_bits, *plain->info().floor_bits);
    EXPECT_GT(*shaped->info().floor_bits, 0.6);
    EXPECT_TRUE(has(shaped->info().floor_note, "at most 0.11")) << shaped->info().floor_note;
}

TEST(Generators, tiles_repeat_and_their_pixels_are_uniform) {
    const auto source = open_source("tiles?period=4", 5);
    EXPECT_DOUBLE_EQ(*source->info().floor_bits, 4.0 * 16 / 256);
    EXPECT_DOUBLE_EQ(*open_source("tiles?period=8", 5)->info().floor_bits, 1.0);
    std::vector<double> counts(16);
    const int pictures = 2000;
    for (int64_t index = 0; index < pictures; ++index) {
        const auto values = source->example(Split::train, index).values;
        for (size_t y = 0; y < 16; ++y)
            for (size_t x = 0; x < 16; ++x)
                ASSERT_EQ(values[y * 16 + x], values[y % 4 * 16 + x % 4]);
        for (size_t cell = 0; cell < 16; ++cell) ++counts[values[cell / 4 * 16 + cell % 4]];
    }
    double entropy = 0;
    for (double count : counts) entropy -= count / pictures / 16 * std::log2(count / pictures / 16);
    EXPECT_NEAR(entropy, 4, 0.002);
}

TEST(Generators, shapes_come_in_every_class_and_differ_from_the_ground) {
    const auto source = open_source("shapes", 2);
    EXPECT_EQ(source->info().class_names, (std::vector<std::string>{"disc", "box", "bar"}));
    std::vector<int> counts(3);
    for (int64_t index = 0; index < 900; ++index)
        ++counts.at(static_cast<size_t>(source->example(Split::train, index).label));
    for (int count : counts) EXPECT_NEAR(count, 300, 5 * std::sqrt(200.0));
    EXPECT_EQ(open_source("shapes?gray=1&size=16", 2)->info().channels, 1);
}

}  // namespace
}  // namespace aft
