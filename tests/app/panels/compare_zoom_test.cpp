// Compare under the pointer: maps zoom together, a click locks the cell in all of them, the split
// line is dragged.
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"

namespace aft::app {
namespace {

class ComparePointer : public BareTest {
  protected:
    void SetUp() override {
        open_mirror();
        run("view.workspace_compare\nframes 3\n");
        ui().selection.compare.slots.push_back(
            {.path = source_file("assets/demo/mirror.safetensors").string()});
        ASSERT_TRUE(until([&] { return is_there(id(0)) && is_there(id(1)); })) << dump(ui());
        steps(5);
    }
    static std::string id(int place) { return "compare/main/map_" + std::to_string(place); }
    // Pixels a cell; 0 = in blocks.
    int zoom(int place) {
        const std::string value = value_of(id(place));
        const size_t at = value.find(" px / cell");
        return at == std::string::npos ? 0 : std::stoi(value.substr(value.rfind(' ', at - 1)));
    }
    static ImVec2 middle(const WidgetRecord& widget) {
        return {(widget.min.x + widget.max.x) / 2, (widget.min.y + widget.max.y) / 2};
    }
};

TEST_F(ComparePointer, MapsZoomTogetherUntilTheyAreUnlinked) {
    UiDriver driver(stage_, 1);
    const auto turn = [&](int place) {
        driver.wheel(middle(driver.find(id(place))), 1);
        steps(4);
    };
    turn(0);  // out of blocks, where there are any
    const int before = zoom(0);
    ASSERT_GT(before, 0) << value_of(id(0));
    EXPECT_EQ(zoom(1), before);
    turn(0);
    EXPECT_GT(zoom(0), before);
    EXPECT_EQ(zoom(1), zoom(0)) << "linked";
    run("set inspector/links/zoom_and_pan off\nframes 3\n");
    const int alone = zoom(0);
    turn(1);
    EXPECT_EQ(zoom(0), alone);
    EXPECT_GT(zoom(1), alone);
    run("click compare/main/fit_maps\nframes 4\n");
    EXPECT_EQ(zoom(0), zoom(1)) << "the whole maps again";
    EXPECT_LE(zoom(0), before);
}

TEST_F(ComparePointer, AClickLocksTheCellInAllMaps) {
    UiDriver driver(stage_, 1);
    const WidgetRecord map = driver.find(id(1));
    const ImVec2 at = {map.min.x + (map.max.x - map.min.x) * 0.25F,
                       map.min.y + (map.max.y - map.min.y) * 0.75F};
    (void)driver.press(map, at);
    ASSERT_TRUE(ui().selection.locked);
    const Cell cell = ui().selection.cell;
    EXPECT_GT(cell.target, cell.source);
    ImGui::GetIO().AddMousePosEvent(-1, -1);
    steps(4);
    const std::string line = value_of("compare/main/hover_line");
    EXPECT_NE(line.find("  A "), std::string::npos) << line;
    EXPECT_NE(line.find("  B "), std::string::npos) << line;
    EXPECT_NE(line.find("exp(w), B/A 1.0000"), std::string::npos) << "the same file: " << line;
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(ui().selection.locked);
}

TEST_F(ComparePointer, TheSplitLineIsDragged) {
    run("click compare/main/view=split\nframes 5\n");
    UiDriver driver(stage_, 1);
    const WidgetRecord line = driver.find("compare/main/split_line");
    ASSERT_EQ(line.kind, "handle");
    const double before = ui().selection.compare.split;
    const ImVec2 from = middle(line);
    driver.drag(from, {from.x - 60, from.y});
    EXPECT_LT(ui().selection.compare.split, before);
    EXPECT_GT(ui().selection.compare.split, 0);
    EXPECT_FALSE(ui().selection.locked) << "the map below was not clicked";
}

TEST_F(ComparePointer, TheSplitLineStandsBetweenTwoColumns) {
    run("click compare/main/view=split\nframes 5\n");
    UiDriver driver(stage_, 1);
    ui().selection.compare.split = 0.131;  // of 256 columns: 33.5
    for (int i = 0; i < 8 && zoom(0) < 4; ++i) {
        driver.wheel(driver.find(id(0)).min, 1);  // the first column stays where it is
        steps(4);
    }
    ASSERT_GE(zoom(0), 4) << value_of(id(0));
    const float x = middle(driver.find("compare/main/split_line")).x;
    EXPECT_EQ(x, driver.find(id(0)).min.x + float(34 * zoom(0)));
}

TEST_F(ComparePointer, APairThatIsNotVisibleIsNamed) {
    UiDriver driver(stage_, 1);
    const WidgetRecord map = driver.find(id(0));
    ImGui::GetIO().AddMousePosEvent(map.min.x + (map.max.x - map.min.x) * 0.75F,
                                    map.min.y + (map.max.y - map.min.y) * 0.25F);
    steps(4);
    const std::string line = value_of("compare/main/hover_line");
    EXPECT_NE(line.find("A not visible"), std::string::npos) << line;
    EXPECT_NE(line.find("B not visible"), std::string::npos) << line;
    EXPECT_NE(line.find("t\u2032 "), std::string::npos) << line;
}

}  // namespace
}  // namespace aft::app
