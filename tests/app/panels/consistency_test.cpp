// One number for one name: what the window says twice is the same twice, it belongs to the step
// that is shown, and states are called what they are.
#include <regex>

#include "app/panels/biases/bias_tools.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

// The cell of a table row, which is recorded as "0 | low | high | mean | norm".
std::string cell_of(const std::string& row, int column) {
    std::string rest = row;
    for (; column > 0; --column) rest = rest.substr(rest.find(" | ") + 3);
    return rest.substr(0, rest.find(" | "));
}

class Consistency : public BareTest {
  protected:
    void show_mirror() {
        open_mirror();
        run("view.workspace_biases\nframes 3\nwait drawn\n");
    }
    // Mean and norm over what a causal model sees, of the whole map as the model holds it.
    std::pair<double, double> visible(int64_t layer, Quantity quantity) {
        ProbeRequest request = probe("bias", layer);
        request.options = {{"quantity", quantity_option(quantity)}, {"gauge", "fixed"}};
        FieldSetPtr fields;
        EXPECT_TRUE(until([&] {
            return (fields = ui().session->probes().ask(request, false, nullptr)) != nullptr;
        }));
        const std::vector<float>& all = fields->fields.front().values;
        const int64_t tokens = ui().status.tokens;
        double sum = 0, sizes = 0, squares = 0;
        for (int64_t t = 0; t < tokens; ++t)
            for (int64_t j = 0; j <= t; ++j) {
                const double v = all[size_t(t * tokens + j)];
                sum += v;
                sizes += std::abs(v);
                squares += v * v;
            }
        if (std::abs(sum) < 1e-6 * sizes) sum = 0;  // rounding, where the gauge makes it 0
        return {sum / (double(tokens) * double(tokens + 1) / 2), std::sqrt(squares)};
    }
};

// A file that is cut off, and a config that is none: said, and the open model stays.
TEST_F(Consistency, WhatCannotBeOpenedLeavesWhatIsOpen) {
    show_mirror();
    const Session* const before = ui().session;
    const TemporaryFolder folder("aft-test-");
    const std::string bytes = read_file(source_file("assets/demo/mirror.safetensors"));
    std::ofstream(folder / "cut.safetensors", std::ios::binary) << bytes.substr(0, 5000);
    std::filesystem::create_directories(folder / "run");
    std::ofstream(folder / "run/config.json") << "no config";
    for (const char* const name : {"cut.safetensors", "run"}) {
        const std::string path = folder / name;
        stage_->frame().open(path);
        run("frames 3\n");
        EXPECT_EQ(ui().session, before) << name;
        EXPECT_FALSE(ui().toasts.shown().empty());
        EXPECT_EQ(ui().toasts.shown().back().title, "Not opened");
        EXPECT_NE(ui().toasts.shown().back().detail.find(path), std::string::npos);
        for (const RecentItem& item : ui().settings.recent) EXPECT_NE(item.path, path);
    }
}

TEST_F(Consistency, InspectorAndStatisticsAgreeInEveryQuantity) {
    show_mirror();
    for (const Quantity quantity : kQuantities)
        for (const int64_t layer : {0, 1}) {
            ui().selection.quantity = quantity;
            ui().selection.cell = {.layer = layer};
            const auto [mean, norm] = visible(layer, quantity);
            const std::string mean_words = shown_value(quantity, mean),
                              norm_words = stored_value(norm);
            run("click focus/main/tab\nframes 3\n");
            EXPECT_TRUE(until([&] { return value_of("inspector/statistics/mean") == mean_words; }))
                << value_of("inspector/statistics/mean") << ", wanted " << mean_words;
            EXPECT_EQ(value_of("inspector/statistics/norm"), norm_words);
            run("click statistics/main/tab\nframes 3\n");
            // Its section: Layers.
            const std::string row = fmt::format("statistics/layers/layers:l{}", layer);
            EXPECT_TRUE(until([&] { return cell_of(value_of(row), 3) == mean_words; }))
                << value_of(row) << ", wanted " << mean_words;
            EXPECT_EQ(cell_of(value_of(row), 4), norm_words) << value_of(row);
        }
}

// Training publishes faster than the worker answers: the newest answer is never there in time.
TEST_F(Consistency, AMapMovesOnThoughItIsNeverTheNewest) {
    make();
    open_tiny_run();
    run("view.workspace_home\nframes 2\n");  // no pane asks for anything
    const ProbeRequest request = probe("bias");
    const auto train_to = [&](int64_t step) {
        session().run().step(step - ui().status.step);
        ASSERT_TRUE(until(
            [&] { return ui().status.step == step && ui().status.state == RunState::paused; }));
    };
    const auto answered = [&] {
        return until(
            [&] { return ui().session->probes().ask(request, false, nullptr) != nullptr; });
    };
    Watch watch;
    AskTurn turns[3];
    ASSERT_TRUE(answered());
    ASSERT_TRUE(watch.update(ui(), request, turns[0]));
    ASSERT_EQ(watch.fields()->fields.front().step, 0);
    train_to(10);
    ASSERT_TRUE(answered());
    train_to(20);  // before the pane has looked
    EXPECT_TRUE(watch.update(ui(), request, turns[1]));
    const int64_t shown = watch.fields()->fields.front().step;
    EXPECT_GE(shown, 10);
    if (shown == 20) return;  // asked twice before the first answer came: the second is of now
    EXPECT_EQ(shown, 10);
    ASSERT_TRUE(answered());
    EXPECT_TRUE(watch.update(ui(), request, turns[2]));
    EXPECT_EQ(watch.fields()->fields.front().step, 20);
}

TEST_F(Consistency, TheExplorerTellsOfTheStepThatIsShown) {
    make(fed(feed_small));
    ui().settings.remember({.path = "/runs/fed", .name = "fed", .what = "", .opened = 1});
    run("view.workspace_biases\nframes 4\n");
    EXPECT_EQ(value_of("explorer/layers/layer_1"), "2.00") << "of the newest step";
    ui().selection.step = 20;
    steps(2);
    EXPECT_EQ(value_of("explorer/layers/layer_0"), "2.00");
    EXPECT_EQ(value_of("explorer/layers/layer_1"), "4.00");
    ui().selection.step = 0;
    steps(2);
    EXPECT_EQ(value_of("explorer/layers/layer_0"), "\u2013") << "nothing was logged so early";
}

TEST_F(Consistency, OnlyARunThatTrainsIsLive) {
    RunState state = RunState::running;
    make(fed([&](Ui& ui) {
        feed_small(ui);
        ui.status.state = state;
    }));
    run("view.workspace_train\nframes 2\n");
    EXPECT_EQ(value_of("timeline/track/live"), "live");
    for (const RunState rest : {RunState::stopped, RunState::paused, RunState::ready}) {
        state = rest;
        steps(2);
        EXPECT_EQ(value_of("timeline/track/live"), "latest");
    }
}

TEST_F(Consistency, APinIsAMarkOnTheTimelineThatGoesBack) {
    make(fed(feed_small));
    run("view.workspace_biases\nframes 2\n");
    ui().selection.step = 20;
    run("key P\nkey End\nframes 2\n");
    EXPECT_EQ(ui().selection.step, -1);
    ASSERT_TRUE(is_there("timeline/track/kept_0_20"));
    run("click \"timeline/track/kept_0_20\"\nframes 2\n");
    EXPECT_EQ(ui().selection.step, 20);
}

TEST_F(Consistency, TheFirstLossIsOnlyCloseWhereItIs) {
    double first = std::log(4.0);
    make(fed([&](Ui& ui) {
        feed_small(ui);
        ui.status.config.model.levels = 4;
        auto curves = std::make_shared<Curves>(*ui.curves);
        NumberColumn losses;
        for (const double loss : curves->columns["loss"])
            losses.push_back(losses.empty() ? first : loss);
        curves->columns["loss"] = losses;
        ui.curves = curves;
    }));
    run("view.workspace_train\nframes 3\n");
    EXPECT_NE(value_of("controls/checks/check").find("close to log2\u00A04\u00A0=\u00A02.000 bits"),
              std::string::npos)
        << value_of("controls/checks/check");
    first = 1.2 * std::log(4.0);
    steps(2);
    EXPECT_NE(value_of("controls/checks/check").find("0.400 bits above log2\u00A04"),
              std::string::npos)
        << value_of("controls/checks/check");
}

TEST_F(Consistency, TheLearningRateSaysThatItsScheduleHasEnded) {
    int64_t step = 59;
    make(fed([&](Ui& ui) {
        feed_small(ui);
        ui.status.config.train.schedule = "cosine";
        ui.status.config.train.schedule_steps = 0;
        ui.status.step = step;
    }));
    const auto says = [&] {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.kind == "hint" &&
                w.value.find("schedule ended at step 60: now 0.001") != std::string::npos)
                return true;
        return false;
    };
    run("view.workspace_train\nframes 3\n");
    EXPECT_FALSE(says());
    step = 60;
    steps(2);
    EXPECT_TRUE(says());
}

TEST_F(Consistency, UndoAndRedoCanBePressedWhereThereIsAStroke) {
    show_mirror();
    run("view.workspace_complete\nframes 4\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    steps(4);
    const auto why = [&](const char* action) { return ui().actions.why_not(ui(), action); };
    EXPECT_EQ(why("mask.redo"), "No stroke was taken back.");
    for (int i = 0; i < 100 && why("mask.undo").empty(); ++i) run("mask.undo\n");
    EXPECT_EQ(why("mask.undo"), "There is no stroke to take back.");
    run("mask.invert\nframes 2\n");
    EXPECT_EQ(why("mask.undo"), "");
    run("mask.undo\nframes 2\n");
    EXPECT_EQ(why("mask.undo"), "There is no stroke to take back.");
    EXPECT_EQ(why("mask.redo"), "");
}

// Two numbers of one model: each says of which data it is.
TEST_F(Consistency, LossesSayWhetherTheyAreOfTrainingOrValidation) {
    show_mirror();
    run("view.workspace_biases\nframes 3\n");
    EXPECT_EQ(value_of("timeline/transport/loss"), "training 0.936 bits/dim");
    run("view.workspace_home\nframes 3\n");
    const auto metric = [&] {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.path.id.find("/metric:") != std::string::npos &&
                w.path.id.ends_with("r.safetensors"))
                return w.value;
        return std::string();
    };
    ASSERT_TRUE(until([&] { return metric() != ""; }));
    EXPECT_EQ(metric(), "validation 0.969 bits/dim");
    // A classifier's loss is in nats: its share of right answers is another number.
    make(fed([](Ui& fed_ui) {
        feed_small(fed_ui);
        fed_ui.status.metric_words = "accuracy";
    }));
    run("view.workspace_train\nframes 3\n");
    EXPECT_EQ(value_of("timeline/transport/loss"), "training 0.735 nats");
}

TEST_F(Consistency, HomeCallsARunOfThisWindowByItsState) {
    make();
    open_tiny_run();
    run("run.start\nwait Stopped\nview.workspace_home\nframes 3\n");
    const auto state = [&] {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.kind == "row" && w.path.id.find(folder_.string()) != std::string::npos)
                return w.value;
        return std::string();
    };
    ASSERT_TRUE(until([&] { return state() != ""; }));
    EXPECT_EQ(state(), "finished") << "it holds the lock, but nothing runs";
}

TEST_F(Consistency, TheStatusBarSaysWhatScrubbingKeepsAndItsLimit) {
    show_mirror();
    const AnswersKept kept = ui().session->probes().kept();
    EXPECT_GT(kept.bytes, size_t{256} * 256 * 4) << "a map of 256 positions at least";
    EXPECT_EQ(kept.limit, size_t{512} << 20);
    EXPECT_NE(value_of("status/main/views").find(" of " + byte_size(double(kept.limit))),
              std::string::npos)
        << value_of("status/main/views");
}

}  // namespace
}  // namespace aft::app
