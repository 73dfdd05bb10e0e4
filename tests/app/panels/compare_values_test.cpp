// What Compare works out of two biases: heads in any order, differences and ratios, the split map,
// settings that differ, and what is too large.
#include <algorithm>
#include <cmath>

#include "app/panels/compare/compare_slots.h"
#include "app/panels/compare/compare_tables.h"
#include "app/panels/compare/compare_values.h"
#include "app/panels/shared/bias_values.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

// Kernels of four heads as fields of a probe: [4, 3, 3].
Status kernel_status() {
    Status s;
    s.config.model.mixer = "aft-conv2d";
    s.config.model.own["heads"] = 4;
    s.config.model.own["window"] = 3;
    s.tokens = s.config.model.tokens();
    s.layers.resize(1);
    return with_traits(s);
}

TEST(CompareValues, HeadsAreFoundInAnyOrderAndTheChangedCellIsTheLargest) {
    const BiasForm form(kernel_status());
    ASSERT_EQ(form.heads, 4);
    FieldSet a, b;
    a.fields.resize(1);
    for (int i = 0; i < 36; ++i) a.fields[0].values.push_back(float((i * 37 % 17) - 8) / 10);
    b = a;
    const int64_t order[] = {3, 1, 0, 2};  // head i of a stands at order[i] of b
    for (int64_t head = 0; head < 4; ++head)
        for (int64_t i = 0; i < 9; ++i)
            b.fields[0].values[size_t(order[head] * 9 + i)] =
                a.fields[0].values[size_t(head * 9 + i)];
    b.fields[0].values[size_t(order[2] * 9 + 5)] += 0.25F;
    const LayerNumbers found =
        compare_layer({.a = a, .b = b, .form_a = form, .form_b = form, .layer = 0}, 10);
    ASSERT_EQ(found.error, "");
    for (int64_t head = 0; head < 4; ++head) EXPECT_EQ(found.matching.of_a(head), order[head]);
    ASSERT_EQ(found.largest.size(), 1u) << "order is no change";
    EXPECT_EQ(found.largest[0].head_a, 2);
    EXPECT_EQ(found.largest[0].row, 1);
    EXPECT_EQ(found.largest[0].column, 2);
    EXPECT_NEAR(found.largest[0].change(), 0.25, 1e-6);
    EXPECT_NEAR(found.all.norm_change, 0.25, 1e-6);
    const LayerNumbers in_order = compare_layer(
        {.a = a, .b = b, .form_a = form, .form_b = form, .layer = 0, .matches = false}, 10);
    EXPECT_GT(in_order.all.norm_change, found.all.norm_change);
    EXPECT_EQ(in_order.matching.of_a(0), 0);
    b.fields[0].values.pop_back();
    EXPECT_NE(compare_layer({.a = a, .b = b, .form_a = form, .form_b = form}, 10).error, "");
}

TEST(CompareValues, DifferenceIsOfTheQuantityAndRatioOfExp) {
    const std::vector<float> a = {0, 1, std::nanf("")}, b = {1, 1, 2};
    const MapPair pair{.a = a, .b = b, .columns = 3};
    const auto difference = pair_values(pair, PairQuantity::difference, Quantity::exp);
    EXPECT_NEAR(difference[0], std::exp(1.0) - 1, 1e-6);
    EXPECT_EQ(difference[1], 0);
    EXPECT_TRUE(std::isnan(difference[2]));
    const auto ratio = pair_values(pair, PairQuantity::ratio, Quantity::w);
    EXPECT_NEAR(ratio[0], std::exp(1.0) - 1, 1e-6);
    EXPECT_EQ(ratio[1], 0);
    EXPECT_FLOAT_EQ(in_quantity(b, 3, Quantity::exp_minus_one)[0], std::expm1(1.0F));
    const std::vector<int64_t> order = {1, -1, 0};
    const std::vector<float> rows = reordered_rows(std::vector<float>{1, 2, 3, 4}, 2, order);
    EXPECT_EQ(rows[0], 3);
    EXPECT_TRUE(std::isnan(rows[2]));
    EXPECT_EQ(rows[5], 2);
}

TEST(CompareValues, TheSplitMapIsLeftOfTheLineTheOneAndRightOfItTheOther) {
    BiasMap left;
    left.rows = 2;
    left.columns = 3;
    left.shown = {1, 2, 3, 4, 5, 6};
    BiasMap right = left;
    right.shown = {-1, -2, -3, -4, -5, -6};
    EXPECT_EQ(split_map(left, right, 1).shown, (std::vector<float>{1, -2, -3, 4, -5, -6}));
    EXPECT_EQ(split_map(left, right, 3).shown, left.shown);
    EXPECT_EQ(split_map(left, right, 0).shown, right.shown);
    right.hidden = right.masked = {0, 1, 0, 1, 0, 0};
    const BiasMap both = split_map(left, right, 1);
    EXPECT_EQ(both.hidden, (std::vector<uint8_t>{0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(both.masked, both.hidden);
}

// Masked in one slot alone: the pair has no value there, and the causal order is no mask.
TEST(CompareValues, APairIsMaskedWhereEitherMapIs) {
    Status s = kernel_status();
    s.config.model.mixer = "aft-full";
    s.config.model.own = {};
    s.config.model.height = s.config.model.width = 2;
    s.tokens = s.config.model.tokens();
    BiasForm form(with_traits(s));
    ASSERT_EQ(form.rows, form.columns);
    const auto cells = size_t(form.rows * form.columns);
    std::vector<float> a(cells, 1), b(cells, 2);
    const auto at = size_t((form.rows - 1) * form.columns);
    b[at] = std::nanf("");
    form.visibility.has_masks = true;
    for (const PairQuantity kind : {PairQuantity::difference, PairQuantity::ratio}) {
        const BiasMap map = drawn_map(
            pair_values({.a = a, .b = b, .columns = form.columns}, kind, Quantity::exp_minus_one),
            form, {});
        ASSERT_EQ(map.masked.size(), cells);
        EXPECT_EQ(map.masked[at], 1);
        EXPECT_EQ(std::count(map.masked.begin(), map.masked.end(), 1), 1);
        EXPECT_GT(std::count(map.hidden.begin(), map.hidden.end(), 1), 1);
    }
}

TEST(CompareValues, OnlySettingsThatAreReadAndDifferAreListed) {
    Config a = tiny_config(), b = tiny_config();
    b.train.learning_rate = 1e-4;
    const auto differing = differing_settings({&a, &b});
    ASSERT_EQ(differing.size(), 1u);
    EXPECT_EQ(differing[0].key, "train.learning_rate");
    EXPECT_NE(differing[0].values[0], differing[0].values[1]);
    EXPECT_TRUE(differing_settings({&a, &a}).empty());
    EXPECT_TRUE(differing_settings({}).empty());
}

TEST(CompareValues, LargeLayersAreReadInBlocksAndHugeMapsNotAtAll) {
    Status s = kernel_status();
    s.config.model.mixer = "aft-full";
    s.config.model.own["heads"] = 1;
    s.config.model.height = 64;
    s.config.model.width = 48;
    s.tokens = s.config.model.tokens();
    const BiasForm large(with_traits(s));
    ASSERT_EQ(large.rows, 3072);
    EXPECT_EQ(layer_block(large), 2);
    EXPECT_TRUE(is_map_readable(large));
    s.config.model.width = 128;
    s.tokens = s.config.model.tokens();
    EXPECT_FALSE(is_map_readable(BiasForm(with_traits(s))));
    EXPECT_EQ(layer_block(BiasForm(kernel_status())), 1);
}

}  // namespace
}  // namespace aft::app
