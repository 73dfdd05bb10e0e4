// Positions as places of a picture, rows folded back into it, and which cells of a bias are hidden:
// cases worked out by hand.
#include "app/panels/shared/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/panels/attention/attention_data.h"
#include "app/panels/biases/bias_tools.h"
#include "tests/app/traits.h"

namespace aft::app {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Status image_status(int64_t height, int64_t width, int64_t channels) {
    Status s;
    s.config.model.task = "image";
    s.config.model.height = height;
    s.config.model.width = width;
    s.config.model.channels = channels;
    s.tokens = height * width * channels;
    s.layers.resize(1);
    return with_traits(s);
}

TEST(Positions, SourceIsTheInputOneSubPixelBefore) {
    const Positions p(image_status(2, 3, 3));
    const auto t = p.target(10);  // pixel 3 = (1, 0), channel 1
    EXPECT_EQ(t.y, 1);
    EXPECT_EQ(t.x, 0);
    EXPECT_EQ(t.channel, 1);
    EXPECT_EQ(p.target_words(10), "10 (1, 0, G)");
    EXPECT_FALSE(p.source(0).is_on_grid());
    EXPECT_EQ(p.source_words(0), "0 (start)");
    for (int64_t j = 1; j < p.tokens; ++j) {
        const auto place = p.source(j);
        EXPECT_EQ(p.source_at(place.y, place.x, place.channel), j);
        EXPECT_EQ(p.target_at(place.y, place.x, place.channel), j - 1);
    }
    EXPECT_EQ(p.source_at(1, 2, 2), -1) << "the last sub-pixel is never an input";
}

TEST(Positions, TheStartIsNamedAsItIs) {
    Status s = image_status(2, 2, 1);
    EXPECT_STREQ(start_words(Positions(s)), "start token");
    s.config.model.start_token = false;
    EXPECT_STREQ(start_words(Positions(s)), "token 0");
    s.config.model.task = "classify";
    s.grid_height = s.grid_width = 2;
    s.tokens = 4;
    s = with_traits(s);
    EXPECT_STREQ(start_words(Positions(s)), "") << "every source is a patch";
    s.tokens = 5;
    EXPECT_STREQ(start_words(Positions(s)), "class token");
}

TEST(Positions, AClassifierHasPatchesAndMaybeAClassToken) {
    Status s = image_status(16, 16, 1);
    s.config.model.task = "classify";
    s.grid_height = s.grid_width = 4;
    s.tokens = 16;
    s = with_traits(s);
    EXPECT_EQ(Positions(s).source(5).y, 1);
    s.tokens = 17;
    EXPECT_EQ(Positions(s).source_words(0), "0 (class)");
    EXPECT_EQ(Positions(s).target(6).x, 1);
}

TEST(Fold, SharesAddUpOverTheChannelsOfAPixel) {
    const Positions p(image_status(2, 2, 3));
    std::vector<float> row(12, kNan);
    for (size_t j = 0; j < 8; ++j) row[j] = 0.125F;  // start token and sub-pixels 0..6
    const Folded all = fold_row(p, row, -1);
    EXPECT_EQ(all.values[0], 0.375F);
    EXPECT_EQ(all.values[1], 0.375F);
    EXPECT_EQ(all.values[2], 0.125F);
    EXPECT_EQ(all.hidden, (std::vector<uint8_t>{0, 0, 0, 1}));
    EXPECT_EQ(value_at(all, {0, 1}), 0.375F);
    EXPECT_EQ(value_at(all, {1, 0}), 0.125F) << "the visible channel alone";
    EXPECT_TRUE(std::isnan(value_at(all, {1, 1}))) << "hidden";
    EXPECT_TRUE(std::isnan(value_at(all, {})) && std::isnan(value_at(all, {2, 0})));
    EXPECT_EQ(fold_row(p, row, 1).values[2], 0.0F);
    EXPECT_EQ(fold_row(p, row, 1).hidden[2], 1);
    EXPECT_EQ(fold_row(p, row, -1, true).values[0], 0.125F);
}

TEST(BiasForm, HiddenCellsOfMatrixAndBandInBlocks) {
    Status s = image_status(2, 4, 1);
    s.config.model.mixer = "aft-full";
    const BiasForm full(with_traits(s));
    EXPECT_EQ(full.layout, BiasLayout::matrix);
    EXPECT_FALSE(full.is_hidden(3, 3, {}));
    EXPECT_TRUE(full.is_hidden(3, 4, {}));
    EXPECT_TRUE(full.is_hidden(1, 2, {2, 2})) << "targets 2, 3 and sources 4, 5: none";
    EXPECT_FALSE(full.is_hidden(1, 1, {2, 2}));
    s.config.model.mixer = "aft-local";
    s.config.model.own["window"] = 3;
    const BiasForm band(with_traits(s));
    EXPECT_EQ(band.layout, BiasLayout::band);
    EXPECT_EQ(band.columns, 3);
    EXPECT_TRUE(band.is_hidden(1, 2, {})) << "source -1";
    EXPECT_FALSE(band.is_hidden(2, 2, {}));
    const Cell cell = band.cell(0, 0, 5, 2);
    EXPECT_EQ(cell.target, 5);
    EXPECT_EQ(cell.source, 3);
    int64_t row = -1, column = -1;
    EXPECT_TRUE(band.place(cell, row, column));
    EXPECT_EQ(row, 5);
    EXPECT_EQ(column, 2);
}

TEST(BiasForm, KernelsKnowTheirOffsets) {
    Status s = image_status(8, 8, 1);
    s.config.model.task = "classify";
    s.config.model.mixer = "aft-conv2d";
    s.config.model.own["window"] = 5;
    s.config.model.own["heads"] = 4;
    const BiasForm form(with_traits(s));
    EXPECT_EQ(form.heads, 4);
    EXPECT_EQ(tap_words(form, form.cell(0, 1, 1, 2)), "\u22121, 0");
    s.config.model.task = "text";
    s.config.model.mixer = "aft-conv1d";
    EXPECT_EQ(BiasForm(with_traits(s)).first_offset, -4)
        << "the last causal tap is the current token";
    s.config.model.mixer = "aft-simple";
    EXPECT_EQ(BiasForm(with_traits(s)).layout, BiasLayout::none);
}

TEST(Limits, EveryQuantityHasItsRule) {
    const std::vector<float> values = {-0.4F, 0.1F, 5};
    EXPECT_EQ(quantity_limits(Quantity::w, values, 100, true), (Range{-5, 5}));
    EXPECT_EQ(quantity_limits(Quantity::exp_minus_one, values, 100, true), (Range{-1, 5}));
    EXPECT_EQ(quantity_limits(Quantity::exp, values, 100, true), (Range{0, 5}));
    const std::vector<float> early = {-0.01F, 0.008F};
    const Range small = quantity_limits(Quantity::exp_minus_one, early, 100, true);
    EXPECT_NEAR(small.low, -0.01, 1e-8);
    EXPECT_NEAR(small.high, 0.01, 1e-8);
}

TEST(Attention, NumbersOfARowByHand) {
    const Positions p(image_status(2, 2, 1));
    AttentionMap map;
    map.row = {0.5F, 0.25F, 0.25F, kNan};
    const RowNumbers n = row_numbers(p, map, 2, 1);
    EXPECT_NEAR(n.entropy, 1.5, 1e-6);
    EXPECT_NEAR(n.inside, 0.25, 1e-6);
    EXPECT_NEAR(n.distance, (1 + std::sqrt(2.0)) / 2, 1e-6);  // target (1,0): (0,0) and (0,1)
    const std::vector<float> even = {0.5F, 0.5F}, one = {1, 0};
    EXPECT_NEAR(divergence_bits(one, even), 1, 1e-6);
    EXPECT_EQ(divergence_bits(even, even), 0);
}

}  // namespace
}  // namespace aft::app
