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
        drawn += stage_->frame().dump();
    }
    for (const PanelRoom& room : panels())
        EXPECT_NE(drawn.find("\t" + room.info.name + "/"), std::string::npos) << room.info.name;
}

INSTANTIATE_TEST_SUITE_P(States, PanelsDraw,
                         ::testing::Values(Case{"none", [](Ui&) {}}, Case{"small", feed_small},
                                           Case{"error", feed_error}),
                         [](const auto& test) { return test.param.name; });

using Empty = BareTest;

TEST_F(Empty, SaysWhatToDoNext) {
    make();
    for (const char* workspace : {"Train", "Biases", "Attention", "Complete"}) {
        run(std::string("workspace ") + workspace + "\nframes 3\n");
        EXPECT_NE(stage_->frame().dump().find("empty\t"), std::string::npos) << workspace;
    }
}

TEST_F(Empty, ErrorIsNamedOnTheScreen) {
    make(fed(feed_error));
    run("workspace Train\nframes 3\n");
    EXPECT_NE(value_of("Curves/Main/Banner").find("NaN in layer 1"), std::string::npos);
    EXPECT_NE(stage_->frame().dump().find("Training paused"), std::string::npos);
}

TEST_F(Empty, IdleWindowWantsNoFrames) {
    make();
    steps(30);
    for (int i = 0; i < 500 && stage_->frame().frames_wanted() > 0;
         ++i) {  // the system report is read
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        steps(3);
    }
    EXPECT_EQ(stage_->frame().frames_wanted(), 0);
    EXPECT_TRUE(std::isinf(stage_->frame().next_frame_at()));
}

TEST_F(Empty, IdleWithARunWantsNoFrames) {
    make(fed(feed_small));
    for (const char* workspace : {"Train", "Biases", "Attention", "Complete", "Compare", "Lab"}) {
        run(std::string("workspace ") + workspace + "\n");
        steps(60);
        EXPECT_EQ(stage_->frame().frames_wanted(), 0) << workspace;
    }
}

}  // namespace
}  // namespace aft::app
