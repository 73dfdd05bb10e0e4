// Other runs in the plots of Train: drawn with their names, read exactly, followed while they grow,
// named where they cannot be read, and kept with the run and in view files.
#include <cmath>
#include <fstream>

#include "app/panels/train/overlay_runs.h"
#include "app/panels/train/plot_card.h"
#include "app/state/overlay_choice.h"
#include "app/state/view_file.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Overlays : public BareTest {
  protected:
    std::string train(const std::string& name, uint64_t seed, int64_t steps) {
        OpenRequest request;
        request.config = tiny_config();
        request.config->train.seed = int64_t(seed);
        request.config->train.steps = steps;
        request.out = (scratch_ / name).string();
        ui().commands.send(OpenRun{request});
        run("frames 2\nwait Ready\nrun.start\nwait Stopped\nframes 5\n");
        return request.out;
    }
    // The second one is open, in Train.
    void train_two() {
        initialize_model("cpu", 1);
        make();
        other_ = train("other", 2, 80);
        open_ = train("mine", 1, 60);
        run("view.workspace_train\nframes 3\n");
    }
    void overlay(const std::string& path) {
        toggle_overlay(ui(), path);
        pass_frames(40);
    }
    // What the pointer reads at the right end of the loss.
    std::string card() {
        const WidgetRecord* plot = ui().recorder.find("curves/plots/loss");
        if (plot == nullptr) return "no plot";
        ImGui::GetIO().AddMousePosEvent(plot->max.x - ui().px(180),
                                        (plot->min.y + plot->max.y) / 2);
        steps(3);
        return value_of("curves/plots/card");
    }
    std::string other_, open_;
};

TEST_F(Overlays, TheCardReadsAllRunsExactly) {
    train_two();
    EXPECT_EQ(card().find("other"), std::string::npos);
    overlay(other_);
    ASSERT_TRUE(until([&] { return card().find("other train") != std::string::npos; })) << card();
    const Curves logged = stored_model(other_).curves;
    const std::string words = card();
    const auto step = size_t(std::stoi(words.substr(5)));
    ASSERT_GE(step, 40U) << words;
    ASSERT_LE(step, 80U) << words;
    size_t row = 0;
    while (row + 1 < logged.step.size() && logged.step[row + 1] <= double(step)) ++row;
    const auto number = [&](const char* column, double unit) {
        return exact_number(logged.columns.at(column)[row] * unit);
    };
    EXPECT_NE(words.find("other train " + number("loss", 1 / std::log(2.0))), std::string::npos)
        << words;
    EXPECT_NE(words.find("other all " + number("grad_norm", 1)), std::string::npos) << words;
    EXPECT_NE(words.find("other layer 0 " + number("bias_norm.layer.0", 1)), std::string::npos)
        << words;
    EXPECT_NE(words.find("| other " + number("lr", 1)), std::string::npos) << words;
    EXPECT_FALSE(is_there("curves/scale/left_out"));
}

TEST_F(Overlays, TheListTakesEightAndTheOpenRunIsNoneOfThem) {
    train_two();
    run("train.overlay_runs\nframes 5\n");
    ASSERT_TRUE(until([&] { return is_there("curves/scale/" + other_); })) << dump(ui());
    EXPECT_FALSE(is_there("curves/scale/" + open_));
    run("click curves/scale/" + other_ + "\nframes 3\n");
    EXPECT_EQ(ui().overlays, std::vector<std::string>{other_});
    EXPECT_EQ(value_of("curves/scale/" + other_), "on");
    run("click curves/scale/remove_overlays\nframes 3\n");
    EXPECT_TRUE(ui().overlays.empty());
    for (int i = 0; i < 12; ++i) toggle_overlay(ui(), fmt::format("/runs/{}", i));
    EXPECT_EQ(ui().overlays.size(), kMostOverlays);
    EXPECT_EQ(why_no_overlay(ui(), other_), "8 runs are overlaid at most.");
    EXPECT_EQ(why_no_overlay(ui(), "/runs/3"), "") << "it can be taken out";
    EXPECT_EQ(why_no_overlay(ui(), open_), "It is open.");
}

TEST_F(Overlays, AGrowingLogIsFollowed) {
    train_two();
    overlay(other_);
    OverlayRuns runs;
    const auto last = [&] {
        runs.update(ui());
        const auto& model = runs.all().at(0).model;
        return model ? model->curves.step.back() : -1;
    };
    ASSERT_TRUE(until([&] { return last() == 80; }));
    const auto before = runs.all().at(0).model;
    std::ofstream(fs::path(other_) / "metrics.jsonl", std::ios::app)
        << R"({"step": 90, "loss": 0.25, "grad_norm": 7})"
        << "\n"
        << R"({"step": 91, "lo)";
    ui().time += 10;
    ASSERT_TRUE(until([&] { return last() == 90; }));
    EXPECT_TRUE(runs.all().at(0).model->curves.step.continues(before->curves.step))
        << "what was read is not read again";
    EXPECT_EQ(runs.all().at(0).model->curves.columns.at("grad_norm").back(), 7);
    EXPECT_EQ(before->curves.step.back(), 80) << "what is drawn meanwhile stays as it is";
}

TEST_F(Overlays, APathThatIsTypedIsAddedOrNamed) {
    train_two();
    const auto add = [&](const std::string& path) {
        run("set curves/scale/path " + path +
            "\nframes 2\nclick curves/scale/add_path\nframes 3\n");
        return value_of("curves/scale/path_problem");
    };
    run("train.overlay_runs\nframes 5\n");
    EXPECT_NE(add("/no/such/run").find("/no/such/run: not a run folder"), std::string::npos);
    EXPECT_EQ(add(open_), "It is open.");
    EXPECT_EQ(add(other_), "");
    EXPECT_EQ(ui().overlays, std::vector<std::string>{other_});
    EXPECT_NE(add(other_).find("overlaid already"), std::string::npos);
}

TEST_F(Overlays, WhatCannotBeReadIsNamedAndLeftOut) {
    train_two();
    std::ofstream(fs::path(other_) / "metrics.jsonl", std::ios::app) << "no json\n";
    overlay(other_);
    overlay("/no/such/run");
    ASSERT_TRUE(until([&] {
        const std::string words =
            value_of("curves/scale/left_out") + value_of("curves/main/left_out");
        return words.find("other: ") != std::string::npos &&
               words.find("metrics.jsonl") != std::string::npos &&
               words.find("no longer there") != std::string::npos;
    })) << dump(ui());
    EXPECT_EQ(card().find("other"), std::string::npos);
}

TEST_F(Overlays, AreKeptWithTheRunAndInViewFiles) {
    train_two();
    overlay(other_);
    const std::string file = (scratch_ / "view.json").string();
    write_view_file(file, view_of(ui()));
    stage_->frame().open(other_);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_TRUE(ui().overlays.empty()) << "those of another run";
    stage_->frame().open(open_);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_EQ(ui().overlays, std::vector<std::string>{other_});
    ui().overlays.clear();
    stage_->frame().open(file);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_EQ(ui().overlays, std::vector<std::string>{other_});
}

// The nearest logged step of any run, not of the first alone.
TEST(PlotCard, ReadsBetweenTheStepsOfTheFirstRun) {
    const std::vector<double> a = {10, 20}, b = {14}, none;
    NamedPlot plot{.view = {.title = "Loss"}, .names = {"a", "b"}};
    plot.view.curves.push_back({.x = a, .y = a});
    plot.view.curves.push_back({.x = b, .y = b});
    const std::vector<NumberView> steps = {a, b, none};
    EXPECT_EQ(card_words(card_at({&plot, 1}, steps, 15)),
              "step 14; Loss: | a at step 10 10 | b 14");
    EXPECT_EQ(card_words(card_at({&plot, 1}, steps, 99)),
              "step 20; Loss: | a 20 | b at step 14 14");
}

}  // namespace
}  // namespace aft::app
