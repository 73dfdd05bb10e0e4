// Every panel in every workspace, drawn without data, with little data, and with an error; at all
// sizes and themes.
#include <chrono>
#include <cmath>
#include <thread>

#include "app/panels/rooms.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

struct Case {
    const char* name;
    void (*feed)(Ui&);
};

class PanelsDraw : public BareTest, public ::testing::WithParamInterface<Case> {
  public:
    void expect_no_problem() {
        for (const LogLine& line : ui().log)
            EXPECT_EQ(line.text.find("stopped"), std::string::npos) << line.text;
    }
};

TEST_P(PanelsDraw, InAllWorkspacesSizesAndThemes) {
    FrameOptions options;
    options.feed = GetParam().feed;
    make(std::move(options));
    for (const ImVec2 size : {ImVec2(1600, 1000), ImVec2(1100, 700), ImVec2(800, 560)})
        for (const ThemeName theme :
             {ThemeName::dark, ThemeName::light, ThemeName::high_contrast}) {
            stage_->set_size(size);
            ui().settings.theme = theme;
            for (const Workspace workspace : kWorkspaces) {
                ui().workspace = workspace;
                steps(4);
            }
        }
    expect_no_problem();
    std::string drawn;
    for (const Workspace workspace : kWorkspaces) {
        stage_->set_size({1600, 1000});
        ui().workspace = workspace;
        steps(4);
        drawn += dump(ui());
    }
    for (const PanelRoom& room : panels())
        EXPECT_NE(drawn.find("\t" + room.id + "/"), std::string::npos) << room.info.name;
}

INSTANTIATE_TEST_SUITE_P(States, PanelsDraw,
                         ::testing::Values(Case{"none", [](Ui&) {}}, Case{"small", feed_small},
                                           Case{"error", feed_error}),
                         [](const auto& test) { return test.param.name; });

using Empty = BareTest;

TEST_F(Empty, SaysWhatToDoNext) {
    make();
    for (const char* workspace : {"train", "biases", "attention", "complete"}) {
        run(std::string("view.workspace_") + workspace + "\nframes 3\n");
        EXPECT_NE(dump(ui()).find("empty\t"), std::string::npos) << workspace;
    }
}

TEST_F(Empty, ErrorIsNamedOnTheScreen) {
    make(fed(feed_error));
    run("view.workspace_train\nframes 3\n");
    EXPECT_NE(value_of("curves/main/banner").find("NaN in layer 1"), std::string::npos);
    EXPECT_NE(dump(ui()).find("Training paused"), std::string::npos);
}

TEST_F(Empty, IdleWindowWantsNoFrames) {
    make();
    steps(30);
    // The system report is read.
    EXPECT_TRUE(until([&] { return ui().wanted.count == 0 && std::isinf(ui().wanted.at); }));
}

TEST_F(Empty, IdleWithARunWantsNoFrames) {
    make(fed(feed_small));
    for (const char* workspace : {"train", "biases", "attention", "complete", "compare", "lab"}) {
        run(std::string("view.workspace_") + workspace + "\n");
        steps(60);
        EXPECT_EQ(ui().wanted.count, 0) << workspace;
    }
}

void feed_opened(Ui& ui) {  // a checkpoint that was opened: trained, but nothing is measured here
    feed_small(ui);
    ui.status.state = RunState::ready;
    ui.curves = std::make_shared<Curves>();
}

void feed_running(Ui& ui) {
    feed_small(ui);
    ui.status.state = RunState::running;
    ui.status.steps_per_s = 6.66;
    ui.status.examples_per_s = 53.3;
    ui.status.memory_bytes = int64_t{1} << 30;
}

TEST_F(Empty, UnknownValuesAreDashes) {
    make(fed(feed_opened));
    run("view.workspace_train\nframes 3\n");
    EXPECT_EQ(value_of("status/main/speed_words"), "\u2013");
    EXPECT_EQ(value_of("status/main/memory"), "\u2013");
    EXPECT_EQ(value_of("run/run/numbers"), "\u2013 it/s, \u2013 images/s, \u2013");
    const std::string words = value_of("curves/main/empty_state");
    EXPECT_NE(words.find("40 steps are trained"), std::string::npos) << words;
    EXPECT_NE(words.find("carries no curves"), std::string::npos) << words;
    EXPECT_FALSE(is_there("curves/main/run.toggle"));  // one filled button: that of Run
}

TEST_F(Empty, MeasuredValuesAreShown) {
    make(fed(feed_running));
    run("view.workspace_train\nframes 3\n");
    EXPECT_EQ(value_of("status/main/speed_words"), "6.66");
    EXPECT_EQ(value_of("run/run/numbers"), "6.66 it/s, 53 images/s, 1.0 GiB");
}

TEST_F(Empty, ErrorBannerSaysWhatIsSafe) {
    make(fed([](Ui& ui) {
        feed_error(ui);
        ui.status.path = ".";  // a folder that is there
    }));
    run("view.workspace_train\nframes 3\n");
    EXPECT_NE(value_of("curves/main/banner").find("Step 20 is saved and safe."), std::string::npos);
    EXPECT_NE(value_of("status/main/message").find("NaN in layer 1"), std::string::npos);
    const WidgetRecord* banner = ui().recorder.find("curves/main/banner");
    const WidgetRecord* loss = ui().recorder.find("curves/plots/loss");
    ASSERT_NE(banner, nullptr);
    ASSERT_NE(loss, nullptr);
    EXPECT_LE(banner->max.y, loss->min.y);  // on top of the curves
}

TEST_F(Empty, SmallPlotsStandSideBySide) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 3\n");
    const char* names[] = {"gradient_norm", "bias_norm", "speed", "rate"};
    for (int i = 0; i + 1 < 4; ++i) {
        const WidgetRecord* left = ui().recorder.find(std::string("curves/plots/") + names[i]);
        const WidgetRecord* right = ui().recorder.find(std::string("curves/plots/") + names[i + 1]);
        ASSERT_NE(left, nullptr);
        ASSERT_NE(right, nullptr);
        EXPECT_LT(left->max.x, right->min.x) << names[i];
        EXPECT_EQ(left->min.y, right->min.y) << names[i];
    }
}

// What another program does not log has no axes.
TEST_F(Empty, PlotsOfWhatIsNotLoggedAreLeftOut) {
    make(fed([](Ui& ui) {
        feed_small(ui);
        auto curves = std::make_shared<Curves>(*ui.curves);
        for (const char* const column : {"grad_norm", "lr", "timing.step_ms"})
            curves->columns.erase(column);
        ui.curves = curves;
    }));
    run("view.workspace_train\nframes 3\n");
    for (const char* const name : {"gradient_norm", "speed", "rate"})
        EXPECT_FALSE(is_there(std::string("curves/plots/") + name)) << name;
    EXPECT_TRUE(is_there("curves/plots/loss"));
    const WidgetRecord* const bias = ui().recorder.find("curves/plots/bias_norm");
    ASSERT_NE(bias, nullptr);
    const WidgetRecord* const loss = ui().recorder.find("curves/plots/loss");
    EXPECT_NEAR(bias->max.x, loss->max.x, 2) << "the others take its space";
}

TEST_F(Empty, ATargetThatNobodyNamedIsNotShown) {
    make(fed([](Ui& ui) {
        feed_small(ui);
        ui.status.following = true;
        ui.status.target_step = 0;
    }));
    run("view.workspace_train\nframes 3\n");
    EXPECT_EQ(value_of("run/run/progress"), "40 steps");
    EXPECT_FALSE(is_there("run/run/target_reached"));
    EXPECT_EQ(value_of("controls/optimiser/target_step"), "not named by this run");
}

TEST_F(Empty, SidePanesFollowTheScaleAtRunTime) {
    make(fed(feed_small), {3200, 2000});
    ui().settings.remember({.path = "/runs/fed", .name = "fed", .what = "", .opened = 1});
    run("view.workspace_biases\nframes 4\n");
    const auto width = [&](const char* label) {
        const WidgetRecord* widget = ui().recorder.find(label);
        return widget == nullptr ? 0.0f : widget->max.x - widget->min.x;
    };
    const float filter = width("explorer/main/filter"), layer = width("explorer/layers/layer_0");
    ASSERT_GT(filter, 150);
    ASSERT_GT(layer, 150);
    ui().settings.zoom = 2;
    steps(6);
    EXPECT_NEAR(width("explorer/main/filter"), 2 * filter, 12);
    EXPECT_NEAR(width("explorer/layers/layer_0"), 2 * layer, 12);
    run("key Ctrl+0\nframes 6\n");
    EXPECT_NEAR(width("explorer/layers/layer_0"), layer, 6);
}

TEST_F(Empty, NarrowWindowShowsTheCanvasFirst) {
    make(fed(feed_small));
    run("view.workspace_biases\nframes 4\n");
    stage_->set_size({800, 560});
    steps(8);
    EXPECT_EQ(value_of("atlas/main/tab"), "shown");
    EXPECT_EQ(value_of("inspector/main/tab"), "hidden");
    const WidgetRecord* live = ui().recorder.find("timeline/track/live");
    ASSERT_NE(live, nullptr);
    EXPECT_LE(live->max.x, 800);
}

}  // namespace
}  // namespace aft::app
