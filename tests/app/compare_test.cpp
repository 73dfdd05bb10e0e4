// Compare: several runs and steps side by side. What the screen says of them is what is stored;
// matching, flicker, jumps, and what cannot be compared is said.
#include <algorithm>
#include <cmath>

#include "app/panels/compare/compare_reader.h"
#include "app/panels/compare/compare_slots.h"
#include "app/panels/compare/compare_tables.h"
#include "app/panels/compare/compare_values.h"
#include "app/panels/shared/bias_values.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

constexpr const char* kReadLine = "compare/main/hover_line";

class CompareWindow : public BareTest {
  protected:
    // A run of the tiny model in its own folder; it stays open.
    std::string train(const std::string& name, int64_t seed) {
        OpenRequest request;
        request.config = tiny_config();
        request.config->train.seed = seed;
        request.out = (scratch_ / name).string();
        ui().commands.send(OpenRun{request});
        run("frames 2\nwait Ready 60\nrun.start\nwait Stopped 60\nframes 5\n");
        return request.out;
    }
    // Both runs, opened together as the command line does.
    void open_two() {
        initialize_model("cpu", 1);
        make();
        a_ = train("first", 1);
        b_ = train("second", 2);
        make();
        stage_->frame().open(a_);
        stage_->frame().open(b_);
        run("frames 2\nwait Ready 60\n");
        ASSERT_TRUE(until([&] { return has_map(0) && has_map(1); })) << dump(ui());
    }
    bool has_map(int place) { return !map(place).empty(); }
    std::string map(int place) { return value_of("compare/main/map_" + std::to_string(place)); }
    std::string why_no_map(int place) {
        return value_of("compare/main/no_map_" + std::to_string(place));
    }
    // w of the layers of a stored step in the fixed gauge, read without the window.
    std::vector<float> stored(const std::string& path, int64_t step, int64_t layer) {
        ProbeRequest request = layer_request(*form(), Gauge::fixed, layer);
        request.step = step;
        return reader_.ask(path, request, {}).fields.at(0).values;
    }
    std::optional<BiasForm> form() { return BiasForm(ui().status); }
    float cell(const std::vector<float>& map, int64_t target, int64_t source) {
        return map.at(size_t(target * form()->columns + source));
    }
    void show_w() {
        ui().selection.quantity = Quantity::w;
        ui().selection.gauge = Gauge::fixed;
        steps(3);
    }
    // The table of all layers is there.
    bool has_all_changes() {
        return is_there("compare/main/changes:change_0") &&
               value_of("compare/main/progress").empty();
    }

    std::string a_, b_;
    StoredBiases reader_;
};

TEST_F(CompareWindow, TwoRunsAreOpenedTogetherAndTheirValuesAreTheStoredOnes) {
    open_two();
    EXPECT_EQ(ui().workspace, Workspace::compare);
    ASSERT_EQ(ui().selection.compare.slots.size(), 2u);
    EXPECT_EQ(ui().status.path, a_) << "the first one is open";
    EXPECT_NE(value_of("compare/main/slot_a").find("first, step 60"), std::string::npos)
        << value_of("compare/main/slot_a");
    EXPECT_NE(value_of("compare/main/slot_b").find("second, step 60"), std::string::npos)
        << value_of("compare/main/slot_b");
    show_w();
    ui().selection.lock({.layer = 1, .target = 40, .source = 7});
    const float a = cell(stored(a_, -1, 1), 40, 7), b = cell(stored(b_, -1, 1), 40, 7);
    ASSERT_NE(a, b);
    const std::string wanted = "A " + shown_value(Quantity::w, a) + "  B " +
                               shown_value(Quantity::w, b) + "  B \u2212 A " +
                               signed_number(double(b) - double(a), 4);
    EXPECT_TRUE(until([&] { return value_of(kReadLine).find(wanted) != std::string::npos; }))
        << wanted << " | " << value_of(kReadLine);
    EXPECT_NE(map(0).find("A layer 1 64x64"), std::string::npos) << map(0);
    EXPECT_NE(map(1).find("B layer 1 64x64"), std::string::npos) << map(1);
}

TEST_F(CompareWindow, EveryViewDrawsTheSameTwoMaps) {
    open_two();
    const auto show = [&](const char* view) {
        run(std::string("click compare/main/view=") + view + "\nframes 4\n");
    };
    show("difference");
    EXPECT_TRUE(until([&] { return has_map(2); }));
    EXPECT_NE(map(2).find("B \u2212 A"), std::string::npos) << map(2);
    EXPECT_NE(value_of("compare/main/caption").find("symmetric round 0"), std::string::npos);
    show("ratio");
    EXPECT_TRUE(until([&] { return map(2).find("exp(w B)") != std::string::npos; })) << map(2);
    show("split");
    EXPECT_TRUE(until([&] { return is_there("compare/main/split_line"); }));
    EXPECT_FALSE(has_map(1)) << "one map with a line in it";
    run("set compare/main/split_share 0.25\nframes 4\n");
    EXPECT_EQ(value_of("compare/main/split_line"), "0.25");
    show("flicker");
    EXPECT_EQ(map(0).rfind("A layer", 0), 0u) << map(0);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_H, true);
    steps(4);
    EXPECT_EQ(map(0).rfind("B layer", 0), 0u) << map(0);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_H, false);
    steps(4);
    EXPECT_EQ(map(0).rfind("A layer", 0), 0u) << map(0);
    show("side_by_side");
    EXPECT_TRUE(until([&] { return has_map(1); }));
}

TEST_F(CompareWindow, OneRangeHoldsForAllMapsUnlessItIsUnlinked) {
    open_two();
    show_w();
    ASSERT_TRUE(is_there("compare/main/range_0"));
    EXPECT_FALSE(is_there("compare/main/range_1"));
    run("set inspector/links/range off\nframes 4\n");
    EXPECT_TRUE(is_there("compare/main/range_0"));
    EXPECT_TRUE(is_there("compare/main/range_1"));
}

TEST_F(CompareWindow, TheLargestChangeIsTheLargestAndItsRowGoesThere) {
    initialize_model("cpu", 1);
    make();
    a_ = train("run", 3);
    run("compare.add_step\nframes 3\n");
    ASSERT_EQ(ui().workspace, Workspace::compare);
    ASSERT_EQ(ui().selection.compare.slots.size(), 2u);
    const int64_t first = ui().selection.compare.slots[0].step;
    EXPECT_EQ(first, ui().history.front());
    show_w();
    ASSERT_TRUE(until([&] { return has_all_changes(); })) << dump(ui());
    double largest = 0;
    Cell at;
    for (int64_t layer = 0; layer < form()->layers; ++layer) {
        const std::vector<float> before = stored(a_, first, layer), now = stored(a_, 60, layer);
        for (int64_t t = 0; t < 64; ++t)
            for (int64_t j = 0; j <= t; ++j) {
                const double change = double(cell(now, t, j)) - double(cell(before, t, j));
                if (!(std::abs(change) > std::abs(largest))) continue;
                largest = change;
                at = {.layer = layer, .target = t, .source = j};
            }
    }
    ASSERT_NE(largest, 0);
    const std::string row = value_of("compare/main/changes:change_0");
    EXPECT_EQ(row.rfind(std::to_string(at.layer) + " | ", 0), 0u) << row;
    EXPECT_NE(row.find(" | " + shown_value(Quantity::w, largest)), std::string::npos) << row;
    ui().selection.cell = {};
    run("click compare/main/changes:change_0\nframes 4\n");
    EXPECT_TRUE(ui().selection.locked);
    EXPECT_EQ(ui().selection.cell.layer, at.layer);
    EXPECT_EQ(ui().selection.cell.target, at.target);
    EXPECT_EQ(ui().selection.cell.source, at.source);
    EXPECT_TRUE(until([&] {
        return value_of(kReadLine).find("B \u2212 A " + signed_number(largest, 4)) !=
               std::string::npos;
    })) << value_of(kReadLine);
}

TEST_F(CompareWindow, LayersHeadsCurvesAndSettingsAreTold) {
    open_two();
    show_w();
    ASSERT_TRUE(until([&] { return has_all_changes(); })) << dump(ui());
    run("click compare/main/below=layers\nframes 4\n");
    const MapDistance distance = map_distance(stored(a_, -1, 0), stored(b_, -1, 0));
    const std::string layer = value_of("compare/main/layers:l0");
    EXPECT_NE(layer.find(stored_value(distance.norm_change)), std::string::npos) << layer;
    EXPECT_NE(layer.find(signed_number(distance.correlation, 3)), std::string::npos) << layer;
    run("click compare/main/layers:l1\nframes 4\n");
    EXPECT_EQ(ui().selection.cell.layer, 1);
    run("click compare/main/below=heads\nframes 4\n");
    EXPECT_EQ(value_of("compare/main/heads:h0").rfind("0 | 0 | ", 0), 0u)
        << value_of("compare/main/heads:h0");
    run("click compare/main/below=curves\nframes 4\n");
    const std::string curves = value_of("compare/main/training_curves");
    EXPECT_NE(curves.find("A: 60 points"), std::string::npos) << curves;
    EXPECT_NE(curves.find("B: 60 points"), std::string::npos) << curves;
    run("click compare/main/below=settings\nframes 4\n");
    EXPECT_EQ(value_of("compare/main/settings:train.seed"), "train.seed | 1 | 2");
    EXPECT_FALSE(is_there("compare/main/settings:model.layers"));
}

TEST_F(CompareWindow, SlotsAreChosenChangedAndTakenOut) {
    open_two();
    const std::vector<int64_t> steps_of_b = stored_model(b_).steps;
    ASSERT_GE(steps_of_b.size(), 2u);
    run("set compare/main/step_b " + std::to_string(steps_of_b.front()) + "\nframes 4\n");
    EXPECT_EQ(ui().selection.compare.slots[1].step, steps_of_b.front());
    const std::string words = "second, step " + group_thousands(steps_of_b.front());
    EXPECT_TRUE(until([&] {
        return value_of("compare/main/slot_b").find(words) != std::string::npos && has_map(1);
    })) << value_of("compare/main/slot_b");
    run("click compare/main/swap_b\nframes 4\n");
    EXPECT_FALSE(ui().selection.compare.slots[0].is_open());
    EXPECT_TRUE(ui().selection.compare.slots[1].is_open());
    run("click compare/main/add_slot\nframes 4\nclick compare/main/another_step_a\nframes 4\n");
    ASSERT_EQ(ui().selection.compare.slots.size(), 3u);
    EXPECT_TRUE(until([&] { return has_map(2); }));
    EXPECT_TRUE(is_there("compare/main/compared_with=slot_c"));
    run("click compare/main/remove_c\nframes 4\nclick compare/main/remove_a\nframes 4\n");
    EXPECT_EQ(ui().selection.compare.slots.size(), 1u);
    EXPECT_NE(value_of("compare/main/empty_state").find("Nothing to compare"), std::string::npos);
}

TEST_F(CompareWindow, WhatCannotBeComparedIsSaid) {
    open_mirror();
    run("view.workspace_compare\nframes 3\n");
    CompareChoice& compare = ui().selection.compare;
    ASSERT_EQ(compare.slots.size(), 1u) << "what is open";
    compare.slots.push_back({.path = source_file("assets/demo/shapes.safetensors").string()});
    compare.slots.push_back({.path = (scratch_ / "nothing").string()});
    compare.view = CompareView::difference;
    EXPECT_TRUE(until([&] {
        return why_no_map(2).find("their cells do not correspond") != std::string::npos;
    })) << why_no_map(2);
    EXPECT_TRUE(until([&] { return has_map(0) && has_map(1); }))
        << "their own maps are drawn all the same";
    EXPECT_NE(value_of("compare/main/slot_c").find("no longer there"), std::string::npos)
        << value_of("compare/main/slot_c");
    compare.view = CompareView::side_by_side;
    steps(4);
    EXPECT_NE(why_no_map(2).find("no longer there"), std::string::npos) << why_no_map(2);
    EXPECT_TRUE(is_there("compare/main/read_again_2"));
    for (const LogLine& line : ui().log)
        EXPECT_EQ(line.text.find("stopped"), std::string::npos) << line.text;
}

TEST_F(CompareWindow, AModelWithoutPositionBiasSaysSo) {
    initialize_model("cpu", 1);
    make();
    OpenRequest request;
    request.config = tiny_config();
    request.config->model.mixer = "softmax";
    request.config->model.own["heads"] = 4;
    request.out = (scratch_ / "softmax").string();
    ui().commands.send(OpenRun{request});
    run("frames 2\nwait Ready 60\nview.workspace_compare\nframes 3\n");
    ui().selection.compare.slots.push_back(
        {.path = source_file("assets/demo/mirror.safetensors").string()});
    EXPECT_TRUE(until([&] { return has_map(1); })) << dump(ui());
    EXPECT_NE(why_no_map(0).find("has no position bias"), std::string::npos) << why_no_map(0);
    EXPECT_NE(value_of("compare/main/progress").find("A has no position bias"), std::string::npos)
        << value_of("compare/main/progress");
}

TEST_F(CompareWindow, TheStepThatTheTimelineShowsIsSetBesideTheNewest) {
    initialize_model("cpu", 1);
    make();
    train("run", 4);
    EXPECT_NE(ui().actions.why_not(ui(), "compare.with_shown"), "") << "nothing is scrubbed";
    ui().selection.step = 20;
    run("compare.with_shown\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::compare);
    ASSERT_EQ(ui().selection.compare.slots.size(), 2u);
    EXPECT_EQ(ui().selection.compare.slots[0].step, 20);
    EXPECT_TRUE(ui().selection.compare.slots[1].is_open());
    EXPECT_EQ(ui().selection.step, -1) << "the other one is live again";
    run("compare.clear\nframes 3\n");
    EXPECT_EQ(ui().selection.compare.slots.size(), 1u) << "what is open comes back";
}

TEST_F(CompareWindow, FourModelsAtMostAreOpenedTogether) {
    initialize_model("cpu", 1);
    make();
    for (int i = 0; i < 6; ++i)
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready 60\n");
    EXPECT_EQ(ui().selection.compare.slots.size(), CompareChoice::kMostSlots);
    ASSERT_FALSE(ui().toasts.history().empty());
    EXPECT_EQ(ui().toasts.history().back().title, "Four models are compared at most");
    EXPECT_TRUE(until([&] { return has_map(3); }));
    const std::string row = value_of("compare/main/changes:change_0");
    EXPECT_EQ(row, "") << "nothing differs";
}

TEST_F(CompareWindow, WithNothingOpenItSaysWhatToDo) {
    make();
    run("view.workspace_compare\nframes 3\n");
    EXPECT_NE(value_of("compare/main/empty_state").find("Open a run"), std::string::npos);
    EXPECT_TRUE(is_there("compare/main/add_slot")) << "stored ones need no open one";
}

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
    EXPECT_EQ(layer_request_in_blocks(large, Gauge::fixed, 0).options.at("blocks"), "2");
    EXPECT_TRUE(is_map_readable(large));
    s.config.model.width = 128;
    s.tokens = s.config.model.tokens();
    EXPECT_FALSE(is_map_readable(BiasForm(with_traits(s))));
    EXPECT_EQ(layer_block(BiasForm(kernel_status())), 1);
}

}  // namespace
}  // namespace aft::app
