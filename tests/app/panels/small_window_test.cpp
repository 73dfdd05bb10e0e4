// The smallest window, 800 x 560: what does not fit scrolls into view and can be used.
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class SmallWindow : public BareTest {
  protected:
    void SetUp() override { open_mirror({800, 560}); }
    // Whole and above the timeline.
    testing::AssertionResult is_in_view(const std::string& id) {
        const WidgetRecord* const widget = ui().recorder.find(id);
        if (widget == nullptr) return testing::AssertionFailure() << id << "\n" << dump(ui());
        const bool is_in = widget->visible && widget->min.x >= 0 && widget->max.x <= 800 &&
                           widget->min.y >= 0 && widget->max.y <= 560;
        return is_in ? testing::AssertionSuccess() : testing::AssertionFailure() << dump(ui());
    }
};

TEST_F(SmallWindow, TheTablesOfCompareCanBeReached) {
    run("view.workspace_compare\nframes 3\n");
    ui().selection.compare.slots.push_back(
        {.path = source_file("assets/demo/mirror.safetensors").string()});
    ASSERT_TRUE(until([&] { return is_there("compare/main/map_1"); })) << dump(ui());
    run("click compare/main/below=layers\nframes 5\n");
    ASSERT_TRUE(until([&] { return is_there("compare/main/layers:l1"); })) << dump(ui());
    run("click compare/main/layers:l1\nframes 3\n");
    EXPECT_TRUE(is_in_view("compare/main/layers:l1"));
    EXPECT_EQ(ui().selection.cell.layer, 1);
}

// In a window of this height they take turns, each in all of it.
TEST_F(SmallWindow, MapsAndTablesOfCompareTakeTurns) {
    run("view.workspace_compare\nframes 3\n");
    ui().selection.compare.slots.push_back(
        {.path = source_file("assets/demo/mirror.safetensors").string()});
    ASSERT_TRUE(until([&] { return is_there("compare/main/map_1"); })) << dump(ui());
    run("click compare/main/below=layers\nframes 5\n");
    EXPECT_FALSE(is_there("compare/main/map_1"));
    run("click compare/main/below=maps\nframes 5\n");
    EXPECT_TRUE(is_there("compare/main/map_1")) << dump(ui());
    EXPECT_FALSE(is_there("compare/main/layers:l1"));
}

TEST_F(SmallWindow, TheReadingOfPlayStandsBelowItsDistribution) {
    run("view.workspace_complete\nframes 3\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] {
        const auto& own = ui().selection.completion.own;
        return own && own->done;
    }));
    ui().selection.completion.position = 200;
    run("frames 3\nclick play/y_12_x_8/complete.from_here\nframes 3\n");
    EXPECT_TRUE(is_in_view("play/y_12_x_8/complete.from_here"));
    EXPECT_TRUE(is_there("play/y_12_x_8/entropy"));
}

}  // namespace
}  // namespace aft::app
