// A panel that goes wrong is shown in its place; the others and the window continue.
#include <implot.h>

#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

using Draw = void (*)(Ui&);
void draw_well(Ui& ui) {
    key_value(ui, "State##state", "well");
}
Draw bad_draw = draw_well, worse_draw = draw_well;  // what these panels do; set by each test

class BadPanel final : public Panel {
  public:
    void draw(Ui& ui) override { bad_draw(ui); }
};
class WorsePanel final : public Panel {
  public:
    void draw(Ui& ui) override { worse_draw(ui); }
};
class GoodPanel final : public Panel {
  public:
    void draw(Ui& ui) override { key_value(ui, "Frames##frames", std::to_string(++frames_)); }

  private:
    int frames_ = 0;
};

const std::vector<PanelRoom>& the_rooms() {
    static const std::vector<PanelRoom> rooms = {
        {.info = {"Bad", "Goes wrong."},
         .id = "bad",
         .icon = icon::error,
         .help = "A panel that goes wrong on purpose.",
         .places = {{Workspace::train, Slot::left, 0}},
         .make = [] { return std::unique_ptr<Panel>(std::make_unique<BadPanel>()); }},
        {.info = {"Worse", "Goes wrong as well."},
         .id = "worse",
         .icon = icon::error,
         .help = "Another panel that goes wrong on purpose.",
         .places = {{Workspace::train, Slot::right, 0}},
         .make = [] { return std::unique_ptr<Panel>(std::make_unique<WorsePanel>()); }},
        {.info = {"Good", "Counts frames."},
         .id = "good",
         .icon = icon::ok,
         .help = "A panel that counts its frames.",
         .places = {{Workspace::train, Slot::canvas, 0}},
         .make = [] { return std::unique_ptr<Panel>(std::make_unique<GoodPanel>()); }}};
    return rooms;
}

class Guard : public BareTest {
  protected:
    void SetUp() override { bad_draw = worse_draw = draw_well; }
    int good_frames() { return std::stoi(value_of("good/main/frames")); }
    bool says(const std::string& panel, const std::string& words) {
        return value_of(panel + "/main/banner").find(words) != std::string::npos;
    }
    void expect_contained(Draw draw, const std::string& words) {
        FrameOptions options;
        options.rooms = &the_rooms();
        make(std::move(options));
        run("view.workspace_train\nframes 5\n");
        const int before = good_frames();
        bad_draw = draw;
        steps(20);
        EXPECT_TRUE(says("bad", words)) << value_of("bad/main/banner");
        EXPECT_GE(good_frames(), before + 19);
        bad_draw = draw_well;
        run("click bad/main/try_again\nframes 3\n");
        EXPECT_EQ(value_of("bad/main/state"), "well");
    }
    // Both panels are wrong until the run has made twenty more steps; every frame shows it.
    void expect_training_beside(Draw bad, Draw worse, const std::string& worse_words) {
        bad_draw = bad;
        worse_draw = worse;
        ASSERT_TRUE(until([&] { return says("bad", "layer 3") && says("worse", worse_words); }))
            << value_of("bad/main/banner") << value_of("worse/main/banner");
        const int64_t step = ui().status.step;
        const int before = good_frames();
        int frames = 0, silent = 0;
        EXPECT_TRUE(until([&] {
            ++frames;
            silent += says("bad", "layer 3 is missing") && says("worse", worse_words) ? 0 : 1;
            return ui().status.step >= step + 20 && frames > 20;
        })) << "at step "
            << ui().status.step << ", from " << step;
        EXPECT_EQ(silent, 0) << "of " << frames;
        EXPECT_GE(good_frames(), before + frames - 2);
        EXPECT_EQ(ui().status.state, RunState::running) << ui().status.error;
        EXPECT_FALSE(ui().commands.is_quitting());
    }
};

TEST_F(Guard, Exception) {
    expect_contained([](Ui&) { throw Error("layer 3 is missing"); }, "layer 3 is missing");
}

TEST_F(Guard, ExceptionInsideEverything) {
    expect_contained(
        [](Ui& ui) {
            ImGui::BeginChild("deep");
            ImGui::PushID("x");
            ImGui::PushStyleColor(ImGuiCol_Text, 0);
            ImGui::BeginGroup();
            const FontScope font(ui.fonts, Face::mono, 15);
            if (ImPlot::BeginPlot("p")) throw Error("in a plot");
        },
        "in a plot");
}

TEST_F(Guard, PushesWithoutPops) {
    expect_contained(
        [](Ui&) {
            ImGui::PushStyleColor(ImGuiCol_Text, 0);
            ImGui::PushID(1);
            ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.5f);
        },
        "unbalanced");
}

TEST_F(Guard, ChildLeftOpen) {
    expect_contained([](Ui&) { ImGui::BeginChild("open"); }, "unbalanced");
}

TEST_F(Guard, OneEndTooMany) {
    expect_contained([](Ui&) { ImGui::End(); }, "End");
}

TEST_F(Guard, AssertionOfTheLibrary) {
    expect_contained([](Ui&) { ImPlot::EndPlot(); }, "assertion");
}

TEST_F(Guard, EndChildTooMany) {
    expect_contained([](Ui&) { ImGui::EndChild(); }, "");
}

TEST_F(Guard, TrainingAndTheOtherPanelsContinue) {
    FrameOptions options;
    options.rooms = &the_rooms();
    make(std::move(options));
    initialize_model("cpu", 1);
    OpenRequest request;
    request.config = tiny_config();
    request.config->train.steps = 1000000;
    request.out = (scratch_ / "run").string();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\nview.workspace_train\nframes 5\n");
    EXPECT_EQ(value_of("bad/main/state") + value_of("worse/main/state"), "wellwell");
    session().run().start();
    ASSERT_TRUE(until([&] { return ui().status.step > 0; }));
    const auto throws = [](Ui&) { throw Error("layer 3 is missing"); };
    const std::pair<Draw, std::string> mistakes[] = {
        {[](Ui&) {
             ImGui::PushID(1);
             ImGui::PushStyleColor(ImGuiCol_Text, 0);
         },
         "unbalanced"},
        {[](Ui&) { ImGui::BeginChild("open"); }, "unbalanced"},
        {[](Ui&) { ImGui::End(); }, "End"}};
    for (const auto& [mistake, words] : mistakes) {
        expect_training_beside(throws, mistake, words);
        bad_draw = worse_draw = draw_well;
        run("click bad/main/try_again\nclick worse/main/try_again\nframes 3\n");
        EXPECT_EQ(value_of("bad/main/state") + value_of("worse/main/state"), "wellwell");
    }
    session().run().pause();
    EXPECT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
    EXPECT_EQ(ui().status.error, "");
    EXPECT_TRUE(until([&] { return ui().curves->step.size() == size_t(ui().status.step); }))
        << ui().curves->step.size() << " losses of " << ui().status.step << " steps";
}

}  // namespace
}  // namespace aft::app
