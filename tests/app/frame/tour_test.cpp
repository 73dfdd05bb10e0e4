// The tour: every stop names a control that is really there, in every size of window.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class TourWindow : public BareTest {
  protected:
    [[nodiscard]] std::string stop() { return value_of("tour/main/stop"); }
};

TEST_F(TourWindow, GoesToRealControlsOneAfterTheOther) {
    for (const ImVec2 size : {ImVec2(1600, 1000), ImVec2(1100, 700)}) {
        open_mirror(size);
        run("help.tour\nframes 6\n");
        ASSERT_TRUE(stop().starts_with("1 of ")) << dump(ui());
        const int count = std::stoi(stop().substr(5));
        EXPECT_GE(count, 8);
        for (int i = 1; i <= count; ++i) {
            ASSERT_TRUE(until([&] { return stop().starts_with(std::to_string(i) + " of "); }));
            EXPECT_TRUE(until([&] { return value_of("tour/main/control") == "shown"; }))
                << stop() << "\n"
                << dump(ui());
            run("click tour/main/next\nframes 6\n");
        }
        EXPECT_EQ(stop(), "") << "it ends";
    }
}

TEST_F(TourWindow, IsOfferedUntilItWasTakenOrRefused) {
    make();
    run("view.workspace_home\nframes 4\n");
    ASSERT_TRUE(is_there("home/main/no_tour")) << dump(ui());
    run("click home/main/no_tour\nframes 4\n");
    EXPECT_FALSE(is_there("home/main/no_tour"));
    EXPECT_TRUE(is_there("home/main/help.tour")) << "it can still be taken";
    ui().settings.tour_done = false;
    open_mirror();
    run("help.tour\nframes 6\nkey Esc\nview.workspace_home\nframes 6\n");
    EXPECT_FALSE(is_there("home/main/no_tour"));
}

TEST_F(TourWindow, EscapeEndsItAndTheControlsStayUsable) {
    open_mirror();
    run("help.tour\nframes 6\n");
    EXPECT_EQ(ui().workspace, Workspace::home);
    run("click tour/main/next\nframes 4\nclick tour/main/back\nframes 4\n");
    EXPECT_TRUE(stop().starts_with("1 of "));
    run("view.workspace_biases\nframes 4\n");
    EXPECT_EQ(ui().workspace, Workspace::biases);
    run("key Esc\nframes 4\n");
    EXPECT_EQ(stop(), "");
}

TEST_F(TourWindow, NamesTheKeysAsTheyAre) {
    open_mirror();
    const auto last_sentence = [&] {
        run("help.tour\nframes 6\n");
        while (!stop().starts_with("9 of 9")) run("click tour/main/next\nframes 6\n");
        const std::string sentence = value_of("tour/main/sentence");
        run("key Esc\nframes 4\n");
        return sentence;
    };
    EXPECT_TRUE(last_sentence().starts_with("Ctrl+Shift+P finds every action. F1 says"));
    ASSERT_EQ(ui().actions.set_shortcut("view.command_palette", "F6"), "");
    ASSERT_EQ(ui().actions.set_shortcut("help.keys", ""), "");
    EXPECT_TRUE(last_sentence().starts_with("F6 finds every action. \"Keys and help\" says"))
        << last_sentence();
}

}  // namespace
}  // namespace aft::app
