// A panel that goes wrong is shown in its place; the others and the window go on.
#include <implot.h>

#include "app/ui/parts.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

using Draw = void (*)(Ui&);
Draw bad_draw = nullptr;  // what the bad panel does; set by each test

class BadPanel final : public Panel {
  public:
    void draw(Ui& ui) override { bad_draw(ui); }
};
class GoodPanel final : public Panel {
  public:
    void draw(Ui& ui) override { key_value(ui, "Frames", std::to_string(++frames_)); }

  private:
    int frames_ = 0;
};

const std::vector<PanelRoom>& two_rooms() {
    static const std::vector<PanelRoom> rooms = {
        {.info = {"Bad", "Goes wrong."},
         .icon = icon::error,
         .help = "A panel that goes wrong on purpose.",
         .places = {{Workspace::train, Slot::left, 0}},
         .make = [] { return std::unique_ptr<Panel>(std::make_unique<BadPanel>()); }},
        {.info = {"Good", "Counts frames."},
         .icon = icon::ok,
         .help = "A panel that counts its frames.",
         .places = {{Workspace::train, Slot::canvas, 0}},
         .make = [] { return std::unique_ptr<Panel>(std::make_unique<GoodPanel>()); }}};
    return rooms;
}

class Guard : public BareTest {
  protected:
    void expect_contained(Draw draw, const std::string& words) {
        bad_draw = [](Ui&) {};
        FrameOptions options;
        options.rooms = &two_rooms();
        make(std::move(options));
        run("workspace Train\nframes 5\n");
        const int before = std::stoi(value_of("Good/Main/Frames"));
        bad_draw = draw;
        steps(20);
        EXPECT_NE(value_of("Bad/Main/Banner").find(words), std::string::npos)
            << value_of("Bad/Main/Banner");
        EXPECT_GE(std::stoi(value_of("Good/Main/Frames")), before + 19);
        bad_draw = [](Ui& ui) { key_value(ui, "State", "well"); };
        run("click Bad/Main/Try again\nframes 3\n");
        EXPECT_EQ(value_of("Bad/Main/State"), "well");
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

}  // namespace
}  // namespace aft::app
