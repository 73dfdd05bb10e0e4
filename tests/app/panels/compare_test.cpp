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
#include "tests/model/checkpoints/maps_file.h"

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
        run("frames 2\nwait Ready\nrun.start\nwait Stopped\nframes 5\n");
        return request.out;
    }
    // Both runs, opened together as the command line does.
    void open_two(int64_t second_seed = 2) {
        initialize_model("cpu", 1);
        make();
        a_ = train("first", 1);
        b_ = train("second", second_seed);
        make();
        stage_->frame().open(a_);
        stage_->frame().open(b_);
        run("frames 2\nwait Ready\n");
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
    EXPECT_TRUE(until([&] { return map(2).find("exp(w): B") != std::string::npos; })) << map(2);
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

TEST_F(CompareWindow, EqualModelsAreZeroEverywhereAndThatHasNoRange) {
    constexpr const char* kZero = "0 everywhere";
    open_two(/*second_seed=*/1);
    EXPECT_NE(value_of("compare/main/range_0"), kZero) << "the biases themselves";
    for (const char* view : {"difference", "ratio"}) {
        run(std::string("click compare/main/view=") + view + "\nframes 4\n");
        EXPECT_TRUE(until([&] { return value_of("compare/main/range_2") == kZero; }))
            << view << ": " << value_of("compare/main/range_2");
    }
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

// Of a change that only adds a constant to every row all is gauge; of that of one cell what the
// row's log-mean-exp takes out.
TEST_F(CompareWindow, WhatOfAChangeIsMereGaugeIsTold) {
    initialize_model("cpu", 1);
    make();
    const auto about = maps_description(
        maps_of({map_entry("rows", "full", {4, 4}), map_entry("cell", "full", {4, 4})}));
    MapsTensor rows = counted_tensor("biases.0", {16, 16}),
               cell = counted_tensor("biases.1", {16, 16});
    a_ = (scratch_ / "a.safetensors").string();
    b_ = (scratch_ / "b.safetensors").string();
    put_maps(a_, about, {rows, cell});
    for (size_t i = 0; i < rows.values.size(); ++i) rows.values[i] += 2 * float(i / 16);
    const MapsTensor untouched = cell;
    constexpr double kChange = 0.5;
    cell.values[3 * 16 + 15] += float(kChange);  // the row's largest
    put_maps(b_, about, {rows, cell});
    stage_->frame().open(a_);
    stage_->frame().open(b_);
    run("frames 2\nwait Ready\n");
    show_w();
    run("click compare/main/below=layers\nframes 4\n");
    const auto share = [&](const std::string& layer) {
        const std::string row = value_of("compare/main/layers:" + layer);
        return row.substr(row.rfind(' ') + 1);
    };
    ASSERT_TRUE(until([&] { return share("l0") == "100.0"; })) << dump(ui());
    const auto log_mean = [](const std::vector<float>& w) {
        double sum = 0;
        for (size_t j = 3 * 16; j < 4 * 16; ++j) sum += std::exp(double(w[j])) / 16;
        return std::log(sum);
    };
    const double shift = log_mean(cell.values) - log_mean(untouched.values);
    const double left = (std::pow(kChange - shift, 2) + 15 * shift * shift) / (kChange * kChange);
    const std::string wanted = plain_number(100 * std::max(0.0, 1 - left), 1);
    EXPECT_TRUE(until([&] { return share("l1") == wanted; })) << share("l1") << ", not " << wanted;
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
    run("frames 2\nwait Ready\nview.workspace_compare\nframes 3\n");
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
    run("click compare/main/below=curves\nframes 4\n");
    EXPECT_TRUE(until([&] {
        const std::string curves = value_of("compare/main/training_curves");
        return curves.find("A at 20; B at 60") != std::string::npos;
    })) << value_of("compare/main/training_curves");
    run("compare.clear\nframes 3\n");
    EXPECT_EQ(ui().selection.compare.slots.size(), 1u) << "what is open comes back";
}

TEST_F(CompareWindow, FourModelsAtMostAreOpenedTogether) {
    initialize_model("cpu", 1);
    make();
    for (int i = 0; i < 6; ++i)
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\n");
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

}  // namespace
}  // namespace aft::app
