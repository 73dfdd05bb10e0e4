// The region of an intervention: which targets and sources a rectangle on a map is, and dragging
// it there.
#include "app/panels/lab/lab_region.h"

#include "app/panels/lab/lab_actions.h"
#include "app/panels/lab/lab_words.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

BiasForm form_of(BiasLayout layout) {
    BiasForm form{Status{}};
    form.layout = layout;
    form.rows = form.columns = form.tokens = 16;
    return form;
}

TEST(LabWords, NoChangeHasOneForm) {
    EXPECT_EQ(change_words({.mean = 0, .standard_error = 0, .count = 8}), "0.000");
    EXPECT_EQ(change_words({.mean = 1e-9, .standard_error = 1e-9, .count = 8}), "0.000");
    EXPECT_EQ(change_words({.mean = -0.25, .standard_error = 1e-9, .count = 8}), "\u22120.250000");
}

TEST(LabRegion, BlocksAreAllOfTheirCells) {
    const BiasForm form = form_of(BiasLayout::matrix);
    const viz::MapRegion cells{{1, 0}, {2, 5}};
    const PairRegion region = region_of_cells(form, {3, 3}, cells);
    EXPECT_EQ(region, (PairRegion{3, 8, 0, 15})) << "the last block is cut";
    EXPECT_EQ(cells_of_region(form, {3, 3}, region), cells);
    EXPECT_FALSE(cells_of_region(form, {3, 3}, {3, 16, 0, 15}).is_valid());
}

TEST(LabRegion, OfABandAreTheSourcesBetweenTheCorners) {
    BiasForm form = form_of(BiasLayout::band);
    form.columns = 4;  // offsets 0 to 3
    const PairRegion region = region_of_cells(form, {1, 1}, {{5, 1}, {6, 3}});
    EXPECT_EQ(region, (PairRegion{5, 6, 2, 5}));
    EXPECT_FALSE(cells_of_region(form, {1, 1}, region).is_valid());
}

TEST(LabRegion, OfAKernelOverASequenceAreTapsAlone) {
    BiasForm form = form_of(BiasLayout::kernel_1d);
    form.rows = 4;
    const PairRegion region = region_of_cells(form, {1, 1}, {{1, 2}, {1, 7}});
    EXPECT_EQ(region, (PairRegion{-1, -1, 2, 7}));
    EXPECT_EQ(cells_of_region(form, {1, 1}, region), (viz::MapRegion{{0, 2}, {3, 7}}));
}

class LabRegionWindow : public BareTest {
  protected:
    void drag(ImVec2 from, ImVec2 to) {
        ImGuiIO& io = ImGui::GetIO();
        io.AddMousePosEvent(from.x, from.y);
        steps(2);
        io.AddMouseButtonEvent(0, true);
        steps(2);
        io.AddMousePosEvent(to.x, to.y);
        steps(2);
        io.AddMouseButtonEvent(0, false);
        steps(2);
    }
};

TEST_F(LabRegionWindow, IsDraggedOnTheMapAndUndone) {
    open_mirror();
    add_intervention(ui(), "paint");
    run("view.workspace_lab\nframes 3\n");
    const char* const map = "interventions/maps/map_before";
    ASSERT_TRUE(until([&] {
        const std::string now = value_of(map);
        return !now.empty() && now != "loading";
    }));
    const WidgetRecord area = *ui().recorder.find(map);
    const auto place = [&](float x, float y) {
        return ImVec2{area.min.x + x * (area.max.x - area.min.x),
                      area.min.y + y * (area.max.y - area.min.y)};
    };
    const auto chosen = [&] { return ui().selection.lab.recipe.interventions.at(0); };
    const Intervention before = chosen();
    drag(place(0.26F, 0.51F), place(0.49F, 0.74F));
    const PairRegion region = region_of(chosen(), *info_of(chosen()));
    const auto part = [](int64_t end) { return double(end) / 256; };
    EXPECT_NEAR(part(region.first_target), 0.51, 0.02);
    EXPECT_NEAR(part(region.last_target), 0.74, 0.02);
    EXPECT_NEAR(part(region.first_source), 0.26, 0.02);
    EXPECT_NEAR(part(region.last_source), 0.49, 0.02);
    run("key Ctrl+Z\nframes 2\n");
    EXPECT_EQ(chosen(), before);
}

}  // namespace
}  // namespace aft::app
