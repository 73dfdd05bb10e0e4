// Numbers on the screen are of what they say: of all layers where a range is global, of one step
// where two are compared, as they were recorded where a card reads them, and not there before they
// are known.
#include <algorithm>
#include <filesystem>
#include <numbers>

#include "app/panels/shared/norm_words.h"
#include "app/state/open_path.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class NumbersOnScreen : public BareTest {
  protected:
    // The value of the first widget whose id ends like this; "" without one.
    std::string ending(const std::string& end) {
        for (const WidgetRecord& widget : ui().recorder.last())
            if (widget.path.id.ends_with(end)) return widget.value;
        return "";
    }
    bool says(const std::string& words) {
        return std::any_of(
            ui().recorder.last().begin(), ui().recorder.last().end(),
            [&](const WidgetRecord& w) { return w.value.find(words) != std::string::npos; });
    }
    // A norm on the screen is a Frobenius norm and says so, or one of gradients.
    void expect_named_norms() {
        for (const WidgetRecord& widget : ui().recorder.last()) {
            const std::string& label = widget.path.label;
            for (const std::string& words : {label.substr(label.rfind('/') + 1), widget.value}) {
                if (words.find("norm") == std::string::npos &&
                    words.find("Norm") == std::string::npos)
                    continue;
                EXPECT_TRUE(words.find("Frobenius") != std::string::npos ||
                            words.find("Gradient norm") != std::string::npos)
                    << widget.path.id << ": " << words;
            }
        }
    }
    void feed_curves(const std::function<void(Curves&, Status&)>& change) {
        make(fed([change](Ui& ui) {
            feed_small(ui);
            auto curves = std::make_shared<Curves>(*ui.curves);
            change(*curves, ui.status);
            ui.curves = curves;
        }));
        run("view.workspace_train\nframes 3\n");
    }
    // The Atlas' range of all layers, then Focus' for each of them.
    void expect_one_range() {
        ui().selection.range_mode = RangeMode::global;
        run("view.workspace_biases\nclick atlas/main/tab\nframes 3\nwait drawn\n");
        ASSERT_TRUE(until([&] { return ending("main/colour_range") != "" && !says("Reading"); }));
        const std::string global = ending("main/colour_range");
        run("click focus/main/tab\nframes 3\n");
        for (int64_t layer = 0; layer < int64_t(ui().status.layers.size()); ++layer) {
            ui().selection.cell = {.layer = layer};
            steps(1);
            EXPECT_TRUE(until([&] { return !says("reading layer"); }));
            EXPECT_TRUE(until([&] { return ending("main/colour_range") == global; }))
                << "layer " << layer << ": " << ending("main/colour_range") << ", all: " << global;
        }
    }
    // Points into a plot so that its card reads this step; the card's words.
    std::string card_of(const std::string& plot, int64_t step) {
        const WidgetRecord box = *ui().recorder.find(plot);
        const std::string wanted = fmt::format("step {};", step);
        for (float x = box.min.x + 30; x < box.max.x; x += 2) {
            ImGui::GetIO().AddMousePosEvent(x, (box.min.y + box.max.y) / 2);
            steps(2);
            if (value_of("curves/plots/card").starts_with(wanted))
                return value_of("curves/plots/card");
        }
        return "";
    }
};

TEST_F(NumbersOnScreen, AGlobalRangeIsThatOfAllLayersInFocusToo) {
    open_mirror();
    ui().selection.quantity = Quantity::exp_minus_one;
    ui().selection.gauge = Gauge::raw;
    expect_one_range();
}

// The clip is a share of what is drawn: of larger blocks it would be another range.
TEST_F(NumbersOnScreen, AGlobalRangeIsTheSameWhereMapsAreDrawnInBlocks) {
    initialize_model("cpu", 1);
    make({}, {1000, 700});
    OpenRequest request;
    request.config = tiny_config();
    request.config->model.layers = 4;
    request.config->data.source = "mirror?size=24&levels=4";  // maps of 576 x 576
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\n");
    expect_one_range();
    EXPECT_NE(ending("main/map").find(" 1:"), std::string::npos) << ending("main/map");
    EXPECT_EQ(ending("main/map").find(" 1:1 "), std::string::npos) << ending("main/map");
}

TEST_F(NumbersOnScreen, AGlobalRangeIsOfTheStepThatIsShown) {
    make();
    open_tiny_run();
    session().run().step(40);
    ASSERT_TRUE(
        until([&] { return ui().status.step == 40 && ui().status.state == RunState::paused; }));
    expect_one_range();
    const std::string late = ending("main/colour_range");
    {
        const WakeGate::Closed closed(*gate_);  // one layer is answered at most
        ui().selection.step = 0;
        steps(1);
        EXPECT_TRUE(says("one range for all layers: reading layer"));
    }
    ASSERT_TRUE(until([&] { return !says("reading layer"); }));
    EXPECT_NE(ending("main/colour_range"), late);
    expect_one_range();
}

TEST_F(NumbersOnScreen, ChecksCompareOneStepAndNoSingleBatch) {
    feed_curves([](Curves& curves, Status& status) {
        rewrite(curves.columns["loss"], [](std::vector<double>& loss) {
            for (size_t i = 0; i < loss.size(); ++i) loss[i] = i < 20 ? 1.0 : 0.7;
            loss.back() = 0.1;  // a single batch
        });
        rewrite(curves.columns["validation.loss"],
                [](std::vector<double>& loss) { loss.back() = std::nan(""); });
        status.floor_bits = 0.5;
    });
    const double ln2 = std::numbers::ln2;
    EXPECT_TRUE(says("Step 20: validation is " + plain_number(0.2 / ln2, 3) + " bits below train"))
        << "0.8 against the 1.0 of then, not the 0.1 of now";
    double last = 0, weights = 0;
    for (int age = 0; age < 40; ++age) {
        const double weight = std::pow(0.8, age);
        last += weight * (age == 0 ? 0.1 : age < 20 ? 0.7 : 1.0);
        weights += weight;
    }
    const std::string above = plain_number(last / weights / ln2 - 0.5, 3);
    EXPECT_TRUE(says("Step 40: train (smoothed) is " + above + " bits above the floor of 0.500"))
        << above;
}

TEST_F(NumbersOnScreen, TheCardReadsAllPlotsAtOneStepAsRecorded) {
    feed_curves([](Curves& curves, Status&) {
        // A spike: its average is another number.
        rewrite(curves.columns["loss"], [](std::vector<double>& loss) { loss[24] = 5.0; });
    });
    const double bits = 1 / std::log(2.0);
    const std::string card = card_of("curves/plots/loss", 25);
    ASSERT_NE(card, "");
    for (const std::string& part :
         {"train " + exact_number(5.0 * bits), "validation at step 20 " + exact_number(0.8 * bits),
          std::string("all 0.5"), std::string("layer 0 2.5"), std::string("layer 1 5"),
          std::string("one step 50"), std::string("rate 0.001"),
          "Bias norm per layer, " + norm_of_training(false)})
        EXPECT_NE(card.find(part), std::string::npos) << part << " in: " << card;
    const std::string other = card_of("curves/plots/speed", 25);
    EXPECT_EQ(other, card) << "the same from every plot";
    EXPECT_NE(card_of("curves/plots/loss", 40).find("validation " + exact_number(0.8 * bits)),
              std::string::npos)
        << "at its own step it names none";
}

TEST_F(NumbersOnScreen, TheWheelOverOnePlotGivesTheOthersItsStepsOnly) {
    feed_curves([](Curves&, Status&) {});
    const auto y_of = [&](const std::string& plot) {
        const std::string value = value_of("curves/plots/" + plot);
        return value.substr(std::min(value.size(), value.find("y ")));
    };
    const char* const others[] = {"gradient_norm", "speed", "rate"};  // constant
    std::vector<std::string> before;
    for (const char* const plot : others) before.push_back(y_of(plot));
    const std::string loss = y_of("loss");
    const WidgetRecord box = *ui().recorder.find("curves/plots/loss");
    ImGui::GetIO().AddMousePosEvent((box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2);
    steps(2);
    for (int i = 0; i < 3; ++i) {
        ImGui::GetIO().AddMouseWheelEvent(0, 1);
        steps(2);
    }
    EXPECT_NE(y_of("loss"), loss) << "the wheel zooms";
    for (size_t i = 0; i < std::size(others); ++i) EXPECT_EQ(y_of(others[i]), before[i]);
}

TEST_F(NumbersOnScreen, AttentionShowsTheStartTokenAndNamesTheShift) {
    open_mirror();
    run("view.workspace_attention\nframes 4\n");
    const std::string label = "/start_of_both";
    ASSERT_TRUE(until([&] { return ending(label) != ""; }));
    EXPECT_TRUE(says("Source t\u2032 reads pixel t\u2032"));
    ui().selection.cell.target = 0;  // sees nothing but the start token
    EXPECT_TRUE(until([&] { return ending(label).starts_with("start token 100.000 %"); }))
        << ending(label);
    ui().selection.cell.target = 200;
    EXPECT_TRUE(until([&] { return !ending(label).starts_with("start token 100.000 %"); }));
}

TEST_F(NumbersOnScreen, NormsSayWhichTheyAre) {
    open_mirror();
    run("view.workspace_biases\nframes 3\nwait drawn\n");
    ASSERT_TRUE(until([&] { return is_there("inspector/statistics/norm"); }));
    ASSERT_TRUE(is_there("inspector/statistics/mean"));
    EXPECT_TRUE(label_of("inspector/statistics/norm").ends_with("/Frobenius norm, visible pairs"));
    EXPECT_TRUE(label_of("inspector/statistics/mean").ends_with("/Mean, visible pairs"));
    EXPECT_TRUE(says("norm (" + norm_of_training(false) + ")")) << "the Explorer's bars";
    run("click statistics/main/tab\nframes 3\n");
    EXPECT_TRUE(until([&] {
        return says("Frobenius norm of exp(w)") && says(", visible pairs, gauge fixed");
    })) << "the line at the foot";
    expect_named_norms();
}

TEST_F(NumbersOnScreen, NormsOverTrainingSayWhichTheyAre) {
    open_trained_run(12);
    ui().selection.gauge = Gauge::fixed;
    ui().selection.lock({.layer = 1, .target = 5, .source = 3});
    run("selection.pin\nview.workspace_biases\nframes 3\nclick formation/main/tab\nframes 4\n");
    const std::string pairs = "visible pairs, gauge fixed";
    EXPECT_TRUE(until([&] { return says(std::string(kRmsOfW) + ", " + pairs); })) << dump(ui());
    expect_named_norms();
    run("click watched/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_there("watched/main/norms"); }));
    EXPECT_TRUE(label_of("watched/main/norms")
                    .ends_with("/" + std::string(kRmsOfW) + ", of the pinned heads, " + pairs))
        << label_of("watched/main/norms");
    expect_named_norms();
    run("compare.add_step\nframes 3\n");
    for (const char* const table : {"layers", "heads"}) {
        run(fmt::format("click compare/main/below={}\nframes 4\n", table));
        EXPECT_TRUE(until([&] { return says("Norm: Frobenius norm of w, " + pairs); })) << table;
    }
    ASSERT_TRUE(until([&] { return is_there("inspector/distance/norm_of_change"); }));
    EXPECT_TRUE(label_of("inspector/distance/norm_of_change")
                    .ends_with("/Frobenius norm of w, B \u2212 A"));
    expect_named_norms();
}

TEST_F(NumbersOnScreen, NothingIsToldBeforeTheFirstStep) {
    make();
    open_tiny_run();
    run("view.workspace_biases\nframes 4\n");
    EXPECT_EQ(value_of("timeline/transport/loss"), "training \u2013 bits/dim");
    EXPECT_EQ(value_of("explorer/layers/layer_0"), "\u2013");
    session().run().step(1);
    ASSERT_TRUE(until([&] { return ui().status.step == 1; }));
    EXPECT_TRUE(until([&] { return value_of("explorer/layers/layer_0") != "\u2013"; }));
    EXPECT_NE(value_of("timeline/transport/loss"), "training \u2013 bits/dim");
    ui().selection.step = 0;  // scrubbed to before it
    steps(2);
    EXPECT_EQ(value_of("timeline/transport/loss"), "training \u2013 bits/dim");
}

TEST_F(NumbersOnScreen, HomeListsTheRunOfAStepThatWasOpenedAndNoOtherTarget) {
    make();
    open_tiny_run();
    run("run.step\n");
    ASSERT_TRUE(until([&] { return ui().status.step == 1; }));
    session().run().set("train.steps", "90");  // of 60
    session().run().step(60);
    ASSERT_TRUE(
        until([&] { return ui().status.step == 61 && ui().status.state == RunState::paused; }));
    run("run.stop\nwait Stopped\n");
    const std::string step = (folder_ / "checkpoints/step-00000061.safetensors").string();
    ASSERT_TRUE(std::filesystem::exists(step));
    stage_->frame().open(step);
    run("frames 2\nwait Ready\nview.workspace_home\nframes 3\n");
    std::vector<std::string> states;
    const auto row_of = [&](const std::string& path) {
        for (const WidgetRecord& w : ui().recorder.last())
            if (w.kind == "row" && w.path.id.ends_with("/" + path)) return w.value;
        return std::string("none");
    };
    ASSERT_TRUE(until([&] { return row_of(folder_.string()) == "paused"; }))
        << row_of(folder_.string()) << ": stopped at 61 of 90";
    EXPECT_EQ(row_of(step), "none") << "a step is a part of its run";
    EXPECT_EQ(recent_item(step).name, "run, step 61");
    run("view.workspace_biases\nframes 3\n");
    EXPECT_EQ(row_of(folder_.string()), "run") << "in the Explorer";
    EXPECT_EQ(row_of(step), "run, step 61") << "while it is open";
}

}  // namespace
}  // namespace aft::app
