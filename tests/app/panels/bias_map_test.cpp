// Bias maps: cutting into blocks along each axis, and the change between two steps.
#include "app/panels/shared/bias_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/panels/biases/bias_tools.h"
#include "tests/app/traits.h"

namespace aft::app {
namespace {

Status band_status(int64_t tokens, int64_t window) {
    Status s;
    s.config.model.height = 1;
    s.config.model.width = tokens;
    s.config.model.mixer = "aft-local";
    s.config.model.own["window"] = window;
    s.tokens = tokens;
    s.layers.resize(1);
    return with_traits(s);
}

// Value 10 t + offset; NaN where there is no source.
FieldSet band_fields(const BiasForm& form, float scale) {
    Field field;
    field.name = "w";
    for (int64_t t = 0; t < form.rows; ++t)
        for (int64_t o = 0; o < form.columns; ++o)
            field.values.push_back(form.is_hidden(t, o, {}) ? std::nanf("")
                                                            : scale * float(10 * t + o));
    return {{field}};
}

TEST(BiasMap, BlocksAreCutAlongEachAxisOverVisibleCellsOnly) {
    const BiasForm form(band_status(7, 3));
    ASSERT_EQ(form.layout, BiasLayout::band);
    const FieldSet fields = band_fields(form, 1);
    const BiasMap map = map_of_fields({fields}, form, 0, {.rows = 3, .columns = 1});
    ASSERT_EQ(map.rows, 3);
    ASSERT_EQ(map.columns, 3);
    EXPECT_EQ(map.low[0], 0);
    EXPECT_EQ(map.high[0], 20);
    EXPECT_EQ(map.shown[0], 20) << "the extreme of targets 0, 1, 2 at offset 0";
    EXPECT_EQ(map.low[2], 22) << "offset 2 begins at target 2";
    EXPECT_EQ(map.mean[1], 16) << "targets 1 and 2";
    EXPECT_EQ(map.high[6], 60) << "the last block has one row";
    EXPECT_EQ(map.hidden[2], 0);
    const BiasMap mean =
        map_of_fields({fields, nullptr, BlockValue::mean}, form, 0, {.rows = 3, .columns = 1});
    EXPECT_EQ(mean.shown, mean.mean);
    EXPECT_EQ(mean.high, map.high) << "hover still names the extremes";
    const BiasMap whole = map_of_fields({fields}, form, 0, {});
    EXPECT_EQ(whole.rows, 7);
    EXPECT_EQ(whole.hidden[2], 1) << "target 0 has no source at offset 2";
    EXPECT_TRUE(whole.low.empty());
}

TEST(BiasMap, ChangeIsTheDifferenceOfEveryValue) {
    const BiasForm form(band_status(4, 2));
    const FieldSet now = band_fields(form, 3), before = band_fields(form, 1);
    const BiasMap map = map_of_fields({now, &before}, form, 0, {});
    for (int64_t t = 0; t < 4; ++t)
        for (int64_t o = 0; o < 2; ++o) {
            const auto i = size_t(t * 2 + o);
            if (map.hidden[i] != 0) continue;
            EXPECT_EQ(map.shown[i], 2 * float(10 * t + o));
        }
    const BiasForm other(band_status(5, 2));
    const FieldSet longer = band_fields(other, 1);
    EXPECT_TRUE(map_of_fields({now, &longer}, form, 0, {}).shown.empty()) << "another shape";
}

// Blocks on the edge of what is seen are partly empty: they count with the values they have.
TEST(BiasMap, StatisticsAreTheSameInBlocks) {
    Status square = band_status(11, 0);
    square.config.model.mixer = "aft-full";
    Status hidden = band_status(11, 11);
    hidden.config.model.own["outside"] = "-inf";
    for (const Status& status : {band_status(11, 4), square, hidden}) {
        const BiasForm form(with_traits(status));
        const FieldSet fields = band_fields(form, 1);
        const BiasMap one = map_of_fields({fields}, form, 0, {});
        const MapStatistics exact = bias_statistics(form, one, Quantity::w);
        int64_t seen = 0;
        for (const uint8_t is_hidden : one.hidden) seen += is_hidden == 0 ? 1 : 0;
        EXPECT_EQ(exact.count, seen);
        for (const Blocks block : {Blocks{2, 2}, Blocks{3, 1}, Blocks{4, 4}}) {
            const BiasMap cut = map_of_fields({fields}, form, 0, block);
            const MapStatistics found = bias_statistics(form, cut, Quantity::w);
            EXPECT_EQ(found.count, seen) << block.words();
            EXPECT_NEAR(found.mean, exact.mean, 1e-4 * std::abs(exact.mean)) << block.words();
            EXPECT_NEAR(found.norm, exact.norm, 1e-5 * exact.norm) << block.words();
        }
    }
}

// exp(w)-1 of w = -40 is -1 in float32, and no logarithm knows its w.
TEST(BiasMap, AReadingHasTheWOfTheAnswer) {
    Status status = band_status(4, 0);
    status.config.model.mixer = "aft-full";
    const BiasForm form(with_traits(status));
    FieldSet fields;
    fields.fields.resize(2);
    fields.fields[0].name = "bias";
    fields.fields[0].values.assign(16, -1);
    fields.fields[1].name = "w";
    fields.fields[1].values.assign(16, -40);
    fields.fields[1].values[9] = -41.5F;
    const BiasMap map = map_of_fields({fields}, form, 0, {});
    const BiasReading reading = read_bias(form, map, {.layer = 0, .target = 2, .source = 1});
    EXPECT_EQ(reading.value, -1);
    EXPECT_EQ(reading.w, -41.5);
    EXPECT_TRUE(std::isnan(read_bias(form, map, {.layer = 0, .target = 1, .source = 2}).w))
        << "not visible";
    const FieldSet alone{{fields.fields[0]}};
    EXPECT_TRUE(std::isnan(
        read_bias(form, map_of_fields({alone}, form, 0, {}), {.layer = 0, .target = 2, .source = 1})
            .w))
        << "not known";
}

TEST(BiasMap, NotANumberShowsInItsBlock) {
    const BiasForm form(band_status(4, 1));
    FieldSet fields = band_fields(form, 1);
    fields.fields[0].values[3] = std::nanf("");
    const BiasMap map = map_of_fields({fields}, form, 0, {.rows = 2, .columns = 1});
    EXPECT_EQ(map.shown[0], 10);
    EXPECT_TRUE(std::isnan(map.shown[1]));
}

// Of blocks: masked as a whole, or in part; what the causal order hides is no mask.
TEST(BiasMap, MaskedCellsAreToldFromThoseThatNobodySees) {
    Status status = band_status(4, 0);
    status.config.model.mixer = "aft-full";
    const BiasForm form(with_traits(status));
    FieldSet fields;
    fields.fields.resize(1);
    fields.fields[0].notes["masks"] = "w = -inf: hidden";
    fields.fields[0].values.assign(16, 1);
    for (const size_t masked : {8, 9, 12}) fields.fields[0].values[masked] = std::nanf("");
    const BiasMap whole = map_of_fields({fields}, form, 0, {});
    EXPECT_TRUE(whole.has_masks);
    std::vector<uint8_t> marks(16);
    marks[8] = marks[9] = marks[12] = 1;
    EXPECT_EQ(whole.masked, marks) << "those of the future are hidden, not masked";
    EXPECT_EQ(whole.hidden[3], 1);
    EXPECT_TRUE(whole.partly.empty()) << "single cells are hidden or not";
    const BiasReading masked = read_bias(form, whole, {.layer = 0, .target = 2, .source = 1});
    EXPECT_TRUE(masked.is_hidden && masked.is_masked);
    EXPECT_FALSE(read_bias(form, whole, {.layer = 0, .target = 1, .source = 2}).is_masked);
    const BiasMap cut = map_of_fields({fields}, form, 0, {.rows = 2, .columns = 2});
    EXPECT_EQ(cut.partly, (std::vector<uint8_t>{0, 0, 1, 0})) << "one of four is left";
    const BiasReading part = read_bias(form, cut, {.layer = 0, .target = 2, .source = 1});
    EXPECT_FALSE(part.is_hidden);
    EXPECT_EQ(part.masked, 3);
    EXPECT_EQ(part.seen, 4);
}

TEST(BiasMap, BandsAreCutFreelyMatricesSquare) {
    const BiasForm band(band_status(768, 128));
    const Blocks cut = band.blocks_for({560, 590});
    EXPECT_EQ(cut.rows, 3) << "256 blocks, two pixels each, instead of 384 of one";
    EXPECT_EQ(cut.columns, 1);
    Status s = band_status(768, 0);
    s.config.model.mixer = "aft-full";
    const Blocks square = BiasForm(with_traits(s)).blocks_for({560, 590});
    EXPECT_EQ(square.rows, square.columns);
}

TEST(BiasMap, SquareBlocksFillTheShorterSide) {
    Status s = band_status(256, 0);
    s.config.model.mixer = "aft-full";
    const BiasForm form(with_traits(s));
    ASSERT_FALSE(form.has_free_axes());
    const Blocks two{.rows = 2, .columns = 2};
    EXPECT_EQ(form.blocks_for({186, 147}), two) << "128 pixels; blocks of 3 were 86";
    EXPECT_EQ(form.blocks_for({147, 186}), two);
    EXPECT_TRUE(form.blocks_for({256, 900}).is_single()) << "what fits is not cut";
}

}  // namespace
}  // namespace aft::app
