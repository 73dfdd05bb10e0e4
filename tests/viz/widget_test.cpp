// The widgets with a Dear ImGui context: hit tests without OpenGL, contents and pace with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/check.h"
#include "tests/viz/scenes.h"
#include "viz/color_bar.h"
#include "viz/curves.h"
#include "viz/image_grid.h"

namespace aft::viz {
namespace {

std::vector<float> ramp(int64_t rows, int64_t columns) {
    std::vector<float> values;
    for (int64_t i = 0; i < rows * columns; ++i) values.push_back(float(i));
    return values;
}

MapView ramp_view(const std::vector<float>& values, int64_t rows, int64_t columns) {
    MapView view;
    view.data = {.values = values, .rows = rows, .columns = columns, .hidden = {}, .version = 1};
    view.coloring = {{0, double(rows * columns)}, Scale::linear, Colormap::grey};
    view.area = {400, 400};
    view.row_label = view.column_label = [](int64_t i) { return std::to_string(i); };
    return view;
}

TEST(MapWidget, HoverAndClickGiveTheCellWithoutOpenGl) {
    Stage stage(Stage::With::no_opengl);
    Map map;
    const auto values = ramp(10, 10);
    MapReply reply;
    MapCell clicked;
    const auto draw = [&] {
        reply = map.draw(ramp_view(values, 10, 10), stage.look);
        if (reply.clicked.is_valid()) clicked = reply.clicked;
    };
    stage.frame(draw);
    const float z = float(reply.zoom.down);
    EXPECT_GE(reply.zoom.down, 30);
    stage.mouse = {reply.map.low.x + 3.5F * z, reply.map.low.y + 7.5F * z};
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    EXPECT_EQ(reply.hovered, (MapCell{7, 3}));
    stage.press(stage.mouse, draw);
    EXPECT_EQ(clicked, (MapCell{7, 3}));
}

TEST(MapWidget, WheelZoomsAtThePointerInWholePixels) {
    Stage stage(Stage::With::no_opengl);
    Map map;
    const auto values = ramp(100, 100);
    MapReply reply;
    const auto draw = [&] { reply = map.draw(ramp_view(values, 100, 100), stage.look); };
    stage.frame(draw);
    EXPECT_EQ(reply.zoom, (Zoom{3, 3}));
    stage.mouse = {reply.map.low.x + 3 * 30.5F, reply.map.low.y + 3 * 20.5F};
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    const MapCell before = reply.hovered;
    for (int i = 0; i < 12; ++i) {
        ImGui::GetIO().AddMouseWheelEvent(0, 1);
        stage.frame(draw);
        stage.frame(draw);
        EXPECT_NEAR(double(reply.hovered.row), double(before.row), 1);
        EXPECT_NEAR(double(reply.hovered.column), double(before.column), 1);
    }
    EXPECT_GT(reply.zoom.least(), 10);
    map.set_zoom(0);
    stage.frame(draw);
    EXPECT_EQ(reply.zoom, (Zoom{3, 3}));
}

TEST(AtlasWidget, ClickFindsTheMap) {
    Stage stage(Stage::With::no_opengl);
    stage.size = {1050, 700};
    AtlasScene scene;
    AtlasHit clicked;
    const auto draw = [&] {
        scene.draw(stage.look, {1050, 700});
        if (scene.reply.clicked.is_valid()) clicked = scene.reply.clicked;
    };
    stage.frame(draw);
    const Box box = scene.reply.layout.cell(5, 10);
    stage.press({box.low.x + 2, box.low.y + 2}, draw);
    EXPECT_EQ(clicked, (AtlasHit{5, 10, {0, 0}}));
}

TEST(AtlasWidget, CaptionsOfManyMapsDoNotOverlap) {
    Stage stage(Stage::With::no_opengl);
    Atlas atlas;
    const std::vector<float> values = ramp(8, 8);
    const auto draw_at = [&](float width) {
        std::vector<AtlasCell> cells(24);
        for (size_t i = 0; i < cells.size(); ++i) {
            cells[i].data = {.values = values, .rows = 8, .columns = 8, .hidden = {}, .version = 1};
            cells[i].label = "Layer " + std::to_string(i);
            cells[i].brief = "L" + std::to_string(i);
            cells[i].bar_text = "\u22120.12 to 0.34";
        }
        AtlasView view;
        view.shape = {.rows = 1,
                      .columns = 24,
                      .tile_rows = 8,
                      .tile_columns = 8,
                      .free_axes = true,
                      .cell_label = 26};
        view.cells = cells;
        view.area = {width, 200};
        AtlasReply reply;
        stage.frame([&] { reply = atlas.draw(view, stage.look); });
        return reply;
    };
    stage.size = {6000, 400};
    EXPECT_EQ(draw_at(5800).caption, AtlasCaption::full);
    EXPECT_EQ(draw_at(2400).caption, AtlasCaption::label);
    const AtlasReply narrow = draw_at(1000);
    EXPECT_EQ(narrow.caption, AtlasCaption::brief);
    EXPECT_EQ(narrow.label_stride, 1);
    const AtlasReply least = draw_at(300);
    EXPECT_EQ(least.caption, AtlasCaption::brief);
    EXPECT_GT(float(least.label_stride) * least.layout.pitch.x, 20) << "every n-th fits";
}

// Of two pixels: three stay free in the thin ring, which fits into the wide one.
TEST(CellRing, IsHollowRoundATinyCell) {
    Stage stage(Stage::With::no_opengl);
    struct Reach {
        float nearest = 1000, farthest = 0;  // from the middle of the cell
    };
    const auto reach = [&](float width) {
        Reach out;
        stage.frame([&] {
            const ImDrawList* const list = ImGui::GetWindowDrawList();
            const int before = list->VtxBuffer.Size;
            draw_cell_ring(stage.look, {{100, 100}, {102, 102}}, rgb(0xFFFFFF), width);
            for (int i = before; i < list->VtxBuffer.Size; ++i) {
                const ImVec2 at = list->VtxBuffer[i].pos;
                const float away = std::max(std::abs(at.x - 101), std::abs(at.y - 101));
                out = {std::min(out.nearest, away), std::max(out.farthest, away)};
            }
        });
        return out;
    };
    const Reach thin = reach(1), wide = reach(2);
    EXPECT_GT(thin.nearest, 0.9F) << "its soft edge is a pixel wide";
    EXPECT_GT(wide.nearest, 2.9F);
    EXPECT_GT(wide.farthest, thin.farthest + 2);
}

TEST(ColorBarWidget, DraggingTheEndChangesTheRange) {
    Stage stage(Stage::With::no_opengl);
    Coloring k{{-1, 5}, Scale::signed_log, Colormap::ember_dark};
    ColorBarReply reply;
    const auto draw = [&] {
        ImGui::SetCursorScreenPos({100, 100});
        reply = draw_color_bar({.coloring = k, .width = 300, .low_locked = true}, stage.look);
        if (reply.changed) k.range = reply.range;
    };
    stage.frame(draw);
    stage.mouse = {reply.bar.high.x, reply.bar.low.y + 5};
    stage.frame(draw);
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    stage.frame(draw);
    stage.mouse.x -= 40;
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    stage.frame(draw);
    EXPECT_LT(k.range.high, 4.5);
    EXPECT_GT(k.range.high, 1);
    EXPECT_EQ(k.range.low, -1) << "the locked end stays";
}

TEST(ColorBarWidget, ClippedSharesHaveALineAboveTheHistogram) {
    Stage stage(Stage::With::no_opengl);
    const std::vector<float> counts = {1, 2, 3};
    ColorBarView view{.width = 300, .histogram = counts, .histogram_height = 28};
    ColorBarReply reply;
    stage.frame([&] {
        ImGui::SetCursorScreenPos({100, 100});
        reply = draw_color_bar(view, stage.look);
    });
    EXPECT_GE(reply.bar.low.y - 100, 28 + 16) << "words of 14 and the histogram";
    view.histogram = {};
    stage.frame([&] {
        ImGui::SetCursorScreenPos({100, 100});
        reply = draw_color_bar(view, stage.look);
    });
    EXPECT_EQ(reply.bar.low.y, 104);
}

TEST(BarsWidget, HoverAndNames) {
    Stage stage(Stage::With::no_opengl);
    const std::vector<double> values = {0.1, 0.6, 0.3};
    std::vector<int> named;
    BarReply reply;
    const auto draw = [&] {
        named.clear();
        ImGui::SetCursorScreenPos({100, 100});
        reply = draw_bars({.values = values,
                           .size = {300, 100},
                           .name =
                               [&](int bar) {
                                   named.push_back(bar);
                                   return std::string(1, char('a' + bar));
                               }},
                          stage.look);
    };
    stage.frame(draw);
    for (int bar = 0; bar < 3; ++bar)
        EXPECT_GE(std::count(named.begin(), named.end(), bar), 2) << "measured and drawn";
    stage.mouse = {reply.plot.low.x + reply.plot.width() / 2, 150};
    for (int i = 0; i < 2; ++i) stage.frame(draw);
    EXPECT_EQ(reply.hovered, 1);
    EXPECT_EQ(reply.clicked, -1);
}

TEST(CurveWidget, HoverGivesX) {
    Stage stage(Stage::With::no_opengl);
    CurveScene scene(2000);
    const auto draw = [&] { scene.draw(stage.look, {600, 300}, false); };
    stage.frame(draw);
    stage.mouse = {300, 150};
    for (int i = 0; i < 3; ++i) stage.frame(draw);
    ASSERT_TRUE(scene.reply.hovered.has_value());
    EXPECT_GT(*scene.reply.hovered, 4000);
    EXPECT_LT(*scene.reply.hovered, 16000);
}

CurveReply draw_once(Stage& stage, const std::vector<double>& y, CurvePlot plot) {
    std::vector<double> x;
    for (size_t i = 0; i < y.size(); ++i) x.push_back(double(i + 1));
    CurveReply reply;
    plot.size = {600, 300};
    plot.curves = {{.x = x, .y = y, .color = stage.look.theme.series[0]}};
    stage.frame([&] { reply = draw_curves(plot, stage.look); });
    return reply;
}

TEST(CurveWidget, OneBlowUpDoesNotFlattenTheCurve) {
    Stage stage(Stage::With::no_opengl);
    std::vector<double> y;
    for (int i = 0; i < 400; ++i) y.push_back(3 - 0.005 * i);
    EXPECT_FALSE(draw_once(stage, y, {.cuts_peaks = true}).peak) << "nothing is far from the rest";
    y[200] = 900;
    const CurveReply cut = draw_once(stage, y, {.cuts_peaks = true});
    EXPECT_LT(cut.y_high, 5);
    ASSERT_TRUE(cut.peak.has_value()) << "it says what it leaves out";
    EXPECT_EQ(*cut.peak, (PlotPoint{201, 900}));
    EXPECT_GT(draw_once(stage, y, {.log_y = true, .cuts_peaks = true}).y_high, 900);
    EXPECT_GT(draw_once(stage, y, {}).y_high, 900);
    AxisZoom x_zoom, y_zoom{true, 0, 1000};
    const CurveReply chosen =
        draw_once(stage, y, {.cuts_peaks = true, .zoom = {.x = &x_zoom, .y = &y_zoom}});
    EXPECT_EQ(chosen.y_high, 1000) << "the user's own range stays";
    EXPECT_FALSE(chosen.peak);
}

TEST(CurveWidget, AConstantStandsInTheMiddle) {
    Stage stage(Stage::With::no_opengl);
    const CurveReply rate = draw_once(stage, std::vector<double>(50, 1e-3), {});
    EXPECT_GT(rate.y_low, 0.0005);
    EXPECT_LT(rate.y_high, 0.002);
    const CurveReply zero = draw_once(stage, std::vector<double>(50, 0.0), {});
    EXPECT_LT(zero.y_low, 0);
    std::vector<double> noise(50, 5.0);
    noise[20] = 5.0001;
    const CurveReply flat = draw_once(stage, noise, {.least_y_span = 0.25});
    EXPECT_GE(flat.y_high - flat.y_low, 0.25);
    EXPECT_NEAR((flat.y_high + flat.y_low) / 2, 5, 0.01);
    EXPECT_LT(draw_once(stage, noise, {}).y_high, 5.001) << "without a least span";
    EXPECT_GT(zero.y_high, 0);
}

TEST(ImageWidget, PixelsHatchAndMask) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Stage stage(Stage::With::opengl);
    TokenTexture texture;
    std::vector<uint8_t> tokens(64, 200);
    ImageReply reply;
    const auto draw = [&] {
        texture.set(TokenImage{.tokens = tokens, .height = 8, .width = 8, .known = 32}, stage.look);
        reply = draw_image({.height = 8, .width = 8, .area = {240, 240}}, texture, stage.look);
    };
    stage.frame(draw);
    stage.frame(draw);
    EXPECT_EQ(reply.zoom, 30);
    const Image picture = stage.picture();
    const auto grey = [&](int x, int y) { return picture.pixels[size_t(y * 800 + x) * 3]; };
    EXPECT_EQ(grey(10, 10), 200);
    EXPECT_EQ(grey(239, 119), 200);
    EXPECT_LT(grey(10, 130), 80) << "what is not there yet is hatched";
}

TEST(Hatch, OfATextureIsTheHatchOfLines) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    for (const ThemeName theme : {ThemeName::dark, ThemeName::light})
        for (const float scale : {1.0F, 1.5F}) {
            Stage stage(Stage::With::opengl, theme);
            stage.look.scale = scale;
            const auto drawn = [&] {
                stage.frame([&] {  // two that join, one that hangs in the air
                    draw_hatch(stage.look, {{10, 20}, {150, 90}});
                    draw_hatch(stage.look, {{150, 20}, {201, 90}});
                    draw_hatch(stage.look, {{333, 111}, {444, 222}});
                });
                return stage.picture();
            };
            const Image texture = drawn();
            stage.look.painter = nullptr;
            const Image lines = drawn();
            int most = 0, brightest = 0, darkest = 255;
            double sum = 0, count = 0;
            const auto compare = [&](int left, int top, int right, int bottom) {
                for (int y = top + 2; y < bottom - 2; ++y)  // lines end a little inside
                    for (int x = left + 2; x < right - 2; ++x) {
                        const auto at = size_t(y * 800 + x) * 3;
                        const int grey = texture.pixels[at];
                        const int apart = std::abs(grey - int(lines.pixels[at]));
                        most = std::max(most, apart);
                        brightest = std::max(brightest, grey);
                        darkest = std::min(darkest, grey);
                        sum += apart;
                        ++count;
                    }
            };
            compare(10, 20, 201, 90);
            compare(333, 111, 444, 222);
            EXPECT_GT(brightest - darkest, 15) << "lines can be seen";
            EXPECT_LE(most, (brightest - darkest) / 4)
                << "scale " << scale << ", mean " << sum / count;
            EXPECT_LE(sum / count, 1.5) << "scale " << scale;
        }
}

TEST(MapWidget, RowZeroIsOnTopAndZoomIsExact) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Stage stage(Stage::With::opengl);
    Map map;
    const std::vector<float> values = {0, 64, 128, 192, 255, 32};
    MapView view;
    view.data = {.values = values, .rows = 2, .columns = 3, .hidden = {}, .version = 1};
    view.coloring = {{0, 255}, Scale::linear, Colormap::grey};
    view.area = {90, 60};
    view.zoom = 30;
    view.numbers = false;
    stage.frame([&] { (void)map.draw(view, stage.look); });
    const Image picture = stage.picture();
    for (int y = 0; y < 60; ++y)
        for (int x = 0; x < 90; ++x)
            EXPECT_NEAR(picture.pixels[size_t(y * 800 + x) * 3],
                        values[size_t(y / 30 * 3 + x / 30)], 1)
                << x << "," << y;
}

// The full atlas of 192 maps on software OpenGL. The time of a frame is printed, not judged.
TEST(AtlasWidget, HoveringPaintsNoMapAgain) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Stage stage(Stage::With::opengl);
    AtlasScene scene;
    const auto draw = [&] { scene.draw(stage.look, {800, 600}); };
    for (int i = 0; i < 5; ++i) stage.frame(draw);
    const int painted = scene.atlas.painted();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 40; ++i) {
        stage.mouse = {float(100 + 15 * i), float(100 + 10 * i)};
        stage.frame(draw);
    }
    (void)stage.picture();  // waits for the GPU
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(scene.atlas.painted(), painted);
    RecordProperty("ms_per_frame", std::to_string(took.count() / 40));
    std::printf("           %.2f ms a frame\n", took.count() / 40);
}

}  // namespace
}  // namespace aft::viz
