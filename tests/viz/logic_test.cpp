// What needs no drawing: decimation, atlas layout and hit test, zoom, mask canvas, ticks, tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/rng.h"
#include "viz/atlas.h"
#include "viz/color_bar.h"
#include "viz/curve_lines.h"
#include "viz/curves.h"
#include "viz/gl/program.h"
#include "viz/image_grid.h"
#include "viz/label_color.h"
#include "viz/map_overlay.h"
#include "viz/paint.h"

namespace aft::viz {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

TEST(Decimate, NeverMoreThanTwoPointsAColumnAndExtremesKept) {
    CounterRng rng(1, 2);
    for (const size_t n : {10U, 1000U, 54321U}) {
        std::vector<double> x(n), y(n);
        std::iota(x.begin(), x.end(), 0.0);
        for (double& v : y) v = rng.normal();
        y[n / 3] = 50;
        y[n / 2] = -40;
        y[n / 5] = kMissing;
        const int columns = 300;
        const PlotColumns cut{0, double(n), columns, false};
        const auto points = decimate(x, y, cut);
        std::map<int, int> per_column;
        double low = 0, high = 0, last = -1;
        for (const PlotPoint& p : points) {
            EXPECT_GE(p.x, last) << "in the order in which they occur";
            last = p.x;
            low = std::min(low, p.y);
            high = std::max(high, p.y);
            ++per_column[int(p.x * (columns / double(n)))];
            EXPECT_EQ(p.y, y[size_t(p.x)]) << "only stored values";
        }
        for (const auto& [column, count] : per_column)
            EXPECT_LE(count, n <= columns ? int(n) : 2) << "column " << column << " of " << n;
        EXPECT_EQ(low, -40);
        EXPECT_EQ(high, 50);
        EXPECT_LE(points.size(), size_t(2 * columns));
    }
}

TEST(Decimate, KeepsOneNeighbourOutsideTheView) {
    std::vector<double> x(100), y(100);
    std::iota(x.begin(), x.end(), 0.0);
    y = x;
    const auto points = decimate(x, y, {40, 60, 50, false});
    EXPECT_EQ(points.front().x, 39);
    EXPECT_EQ(points.back().x, 61);
    EXPECT_EQ(points.size(), 23U);
}

TEST(Decimate, LogColumnsKeepTheFirstSteps) {
    std::vector<double> x(10000), y(10000, 1.0);
    std::iota(x.begin(), x.end(), 1.0);
    for (size_t i = 0; i < y.size(); ++i) y[i] = double(i % 7);
    const auto log = decimate(x, y, {1, 10000, 400, true});
    const auto few = decimate(x, y, {1, 10000, 400, false});
    const auto early = [](const std::vector<PlotPoint>& points) {
        return std::count_if(points.begin(), points.end(),
                             [](const PlotPoint& p) { return p.x <= 20; });
    };
    EXPECT_EQ(early(log), 20);
    EXPECT_LE(early(few), 2);
}

TEST(Smooth, StartsAtTheFirstValueAndSkipsGaps) {
    const std::vector<double> y = {4, kMissing, 2, 2, 2};
    const auto s = smooth(y, 0.5);
    EXPECT_DOUBLE_EQ(s[0], 4);
    EXPECT_TRUE(std::isnan(s[1]));
    EXPECT_NEAR(s[2], (0.5 * 4 * 0.5 + 0.5 * 2) / 0.75, 1e-12);
    EXPECT_LT(s[4], s[2]);
    EXPECT_EQ(smooth(y, 0)[2], 2);
}

TEST(Curves, AverageOfALongCurveTakesSeveralFrames) {
    NumberColumn x, y;
    std::vector<double> plain;
    for (size_t i = 0; i < 2 * kRowsPerFrame + 100; ++i) {
        plain.push_back(i % 5 == 2 ? kMissing : std::sin(0.001 * double(i)));
        x.push_back(double(i));
        y.push_back(plain.back());
    }
    CurveCache cache;
    CurvePlot plot;
    plot.cache = &cache;
    plot.curves.push_back({.x = x, .y = y, .smoothing = 0.9});
    const PlotColumns cut{0, double(plain.size()), 300, false};
    int frames = 1;
    while (make_lines(plot, cut)[0].has_more) ++frames;
    EXPECT_EQ(frames, 3);
    const std::vector<double> whole = smooth(plain, 0.9);
    EXPECT_EQ(make_lines(plot, cut)[0].main, decimate(x, whole, cut));
}

// The number at a line's end is where the line ends, also of an average and of a part of it.
TEST(Curves, LabelsAreOfTheLinesThatTheyStandAt) {
    const std::vector<double> x = {1, 2, 3, 4}, y = {4, 2, 2, 8};
    const std::vector<double> whole = smooth(y, 0.5);
    CurvePlot plot;
    plot.curves = {{.label = "train", .x = x, .y = y, .smoothing = 0.5},
                   {.label = "validation", .x = x, .y = y}};
    const std::vector<PlotLine> all = make_lines(plot, {1, 4, 100, false});
    EXPECT_DOUBLE_EQ(all[0].last, whole[3]);
    EXPECT_EQ(end_label(all[0]), fmt::format("train {:.3f} smoothed", whole[3]));
    EXPECT_EQ(end_label(all[1]), "validation 8.000");
    const std::vector<PlotLine> part = make_lines(plot, {1, 2.5, 100, false});
    EXPECT_DOUBLE_EQ(part[0].last, whole[1]);
    EXPECT_EQ(end_label(part[1]), "validation 2.000");
}

TEST(Atlas, LayoutFitsAndSpreadsAtMostAQuarterOfThePitch) {
    const AtlasShape shape{.rows = 12,
                           .columns = 16,
                           .tile_rows = 11,
                           .tile_columns = 11,
                           .row_label = 34,
                           .column_label = 24,
                           .row_bar = 130};
    const AtlasLayout a = layout_atlas(shape, {1000, 690}, 1);
    EXPECT_EQ(
        a.zoom,
        (Zoom{4, 4}));  // 44 px: 16 * 46 <= 836 and 12 * 46 <= 666; 5 would need 57 x 12 > 666
    EXPECT_LE(a.size.x, 1000);
    EXPECT_LE(a.size.y, 690);
    EXPECT_GE(a.pitch.x, a.tile.x + 2);
    EXPECT_LE(a.pitch.x - a.tile.x, a.pitch.x / 4 + 1);
    EXPECT_LE(a.pitch.y - a.tile.y, a.pitch.y / 4 + 1);
    const AtlasLayout tiny = layout_atlas(shape, {100, 50}, 1);
    EXPECT_EQ(tiny.zoom, (Zoom{1, 1}));
    EXPECT_GT(tiny.size.y, 50) << "it scrolls rather than shrinks below a pixel a value";
}

TEST(Atlas, HitTestFindsTheCellAndMissesTheGaps) {
    const AtlasShape shape{.rows = 3,
                           .columns = 4,
                           .tile_rows = 5,
                           .tile_columns = 7,
                           .row_label = 30,
                           .column_label = 20,
                           .cell_label = 18};
    const AtlasLayout a = layout_atlas(shape, {600, 400}, 1);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            for (int64_t y = 0; y < 5; ++y)
                for (int64_t x = 0; x < 7; ++x) {
                    const Box box = a.cell(r, c);
                    const ImVec2 at = {box.low.x + float(a.zoom.across) * (float(x) + 0.5F),
                                       box.low.y + float(a.zoom.down) * (float(y) + 0.5F)};
                    EXPECT_EQ(hit_atlas(a, shape, at), (AtlasHit{r, c, {y, x}}));
                }
    const Box box = a.cell(0, 0);
    EXPECT_FALSE(hit_atlas(a, shape, {box.high.x + 1, box.low.y + 1}).is_valid());
    EXPECT_FALSE(hit_atlas(a, shape, {box.low.x + 1, box.high.y + 2}).is_valid());
    EXPECT_FALSE(hit_atlas(a, shape, {5, box.low.y + 1}).is_valid());
    EXPECT_FALSE(hit_atlas(a, shape, {599, 399}).is_valid());
}

TEST(Map, FreeAxesTakeEachTheirOwnZoom) {
    MapView view;
    view.data = {.rows = 256, .columns = 128};
    EXPECT_EQ(map_zoom(view, {560, 590}, 0, 128), (Zoom{2, 2}));
    view.free_axes = true;
    EXPECT_EQ(map_zoom(view, {560, 590}, 0, 128), (Zoom{4, 2}));
    EXPECT_EQ(map_zoom(view, {560, 590}, 3, 128), (Zoom{4, 3})) << "the wider axis stays in view";
    EXPECT_EQ(map_zoom(view, {560, 590}, 8, 128), (Zoom{8, 8}));
    EXPECT_EQ(filling_block(768, 590), 3);
    EXPECT_EQ(filling_block(500, 590), 1) << "what fits is not cut";
    for (int64_t n = 1; n < 2000; n += 37)
        for (float pixels = 8; pixels < 700; pixels += 31) {
            const int64_t b = filling_block(n, pixels);
            EXPECT_LE(float((n + b - 1) / b), pixels);
            EXPECT_LE(b, 2 * block_size(n, pixels));
        }
}

TEST(Atlas, FreeAxesFillTheirPlace) {
    AtlasShape shape{
        .rows = 2, .columns = 2, .tile_rows = 256, .tile_columns = 128, .free_axes = true};
    const AtlasLayout a = layout_atlas(shape, {1028, 600}, 1);
    EXPECT_EQ(a.zoom, (Zoom{4, 1}));
    EXPECT_EQ(hit_atlas(a, shape, {a.origin.x + 4 * 100 + 1, a.origin.y + 200}),
              (AtlasHit{0, 0, {200, 100}}));
}

TEST(Map, ZoomIsWholeAndBlocksCoverAllValues) {
    EXPECT_EQ(fit_zoom({600, 600}, 11, 11, 64), 54);
    EXPECT_EQ(fit_zoom({600, 600}, 4, 4, 64), 64);
    EXPECT_EQ(fit_zoom({600, 600}, 768, 768, 64), 1);
    EXPECT_EQ(block_size(768, 600), 2);
    EXPECT_EQ(block_size(3072, 170), 19);
    EXPECT_EQ(block_size(256, 600), 1);
    for (int64_t n = 1; n < 500; n += 7)
        for (float pixels = 1; pixels < 300; pixels += 13) {
            const int64_t b = block_size(n, pixels);
            EXPECT_LE(float((n + b - 1) / b), pixels);
        }
}

TEST(Map, AxisNumbersStayBesideTheMap) {
    EXPECT_EQ(seen_middle(10, 20, 0, 100), 15) << "all of the cell is seen";
    EXPECT_EQ(seen_middle(-90, 30, 0, 100), 15) << "scrolled out at the top";
    EXPECT_EQ(seen_middle(80, 200, 0, 100), 90);
    EXPECT_EQ(seen_middle(-50, -10, 0, 100), 0);
}

TEST(Mask, StrokesPresetsAndUndo) {
    MaskCanvas canvas(8, 8);
    const auto count = [&] {
        return std::accumulate(canvas.mask().begin(), canvas.mask().end(), 0);
    };
    EXPECT_FALSE(canvas.can_undo() || canvas.can_redo());
    EXPECT_FALSE(canvas.undo());
    canvas.begin(PaintTool::brush, 0, {1, 1});
    EXPECT_TRUE(canvas.can_undo()) << "undo takes back a stroke that is not yet ended";
    canvas.drag({1, 6});  // fast move: the line between is painted
    canvas.end();
    EXPECT_EQ(count(), 6);
    canvas.begin(PaintTool::rectangle, 0, {4, 4});
    canvas.drag({7, 7});
    canvas.drag({5, 5});  // only the last rectangle counts
    canvas.end();
    EXPECT_EQ(count(), 6 + 4);
    canvas.begin(PaintTool::eraser, 0, {1, 1});
    canvas.end();
    EXPECT_EQ(count(), 9);
    canvas.begin(PaintTool::eraser, 0, {1, 1});  // changes nothing: no undo step
    canvas.end();
    EXPECT_TRUE(canvas.undo());
    EXPECT_EQ(count(), 10);
    EXPECT_TRUE(canvas.undo());
    EXPECT_EQ(count(), 6);
    EXPECT_TRUE(canvas.can_undo() && canvas.can_redo());
    EXPECT_TRUE(canvas.redo());
    EXPECT_EQ(count(), 10);
    canvas.apply(MaskPreset::lower_half);
    EXPECT_EQ(count(), 32);
    EXPECT_FALSE(canvas.can_redo());
    EXPECT_FALSE(canvas.redo()) << "a new step forgets what was undone";
    canvas.invert();
    EXPECT_EQ(canvas.mask()[0], 1);
    EXPECT_EQ(canvas.mask()[63], 0);
    EXPECT_TRUE(canvas.undo());
    EXPECT_EQ(canvas.mask()[63], 1);
}

TEST(Mask, BrushIsRoundAndStaysInside) {
    MaskCanvas canvas(9, 9);
    canvas.begin(PaintTool::brush, 2, {0, 0});
    canvas.drag({-5, -5});
    canvas.end();
    EXPECT_EQ(canvas.mask()[0], 1);
    EXPECT_EQ(canvas.mask()[2], 1);
    EXPECT_EQ(canvas.mask()[2 * 9 + 2], 0) << "the corner of the square is not in the disc";
    canvas.apply(MaskPreset::random, 7);
    const std::vector<uint8_t> first(canvas.mask().begin(), canvas.mask().end());
    canvas.apply(MaskPreset::none);
    canvas.apply(MaskPreset::random, 7);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), canvas.mask().begin()));
}

TEST(Mask, UndoInTheMiddleOfAStrokeTakesTheStrokeBack) {
    MaskCanvas canvas(4, 4);
    canvas.begin(PaintTool::brush, 0, {0, 0});
    canvas.drag({0, 3});
    EXPECT_TRUE(canvas.undo());
    EXPECT_EQ(std::accumulate(canvas.mask().begin(), canvas.mask().end(), 0), 0);
    canvas.drag({3, 3});  // the stroke has ended
    EXPECT_EQ(std::accumulate(canvas.mask().begin(), canvas.mask().end(), 0), 0);
}

TEST(Bar, TicksHaveTheEndsAndZeroAndKeepTheirDistance) {
    for (const Coloring& k : {Coloring{{-1, 5.47}, Scale::signed_log, Colormap::ember_dark},
                              Coloring{{0, 0.055}, Scale::root, Colormap::viridis},
                              Coloring{{-2.6, 2.6}, Scale::signed_linear, Colormap::ember_dark}}) {
        const auto ticks = bar_ticks(k, 0.1);
        EXPECT_EQ(ticks.front(), k.range.low);
        EXPECT_EQ(ticks.back(), k.range.high);
        EXPECT_GE(ticks.size(), 4U);
        EXPECT_TRUE(!is_signed_scale(k.scale) ||
                    std::find(ticks.begin(), ticks.end(), 0.0) != ticks.end());
        for (size_t i = 1; i < ticks.size(); ++i)
            EXPECT_GT(scale_position(ticks[i], k.range, k.scale) -
                          scale_position(ticks[i - 1], k.range, k.scale),
                      0.04);
    }
    EXPECT_EQ(bar_number(0.055, true), "5.5 %");
    EXPECT_EQ(bar_number(-1, false), "\u22121");
    EXPECT_EQ(bar_number(0.5, false), "0.5");
    EXPECT_EQ(bar_number(-2.18e-5, false), "\u22122.2e\u22125");
    EXPECT_EQ(bar_number(5e-3, false), "0.005");
    EXPECT_NE(bar_number(0.01, false), bar_number(0.0125, false));
    EXPECT_EQ(bar_number(5e-4, false, {5e-4, 0.002}), "0.0005") << "as the other end: 0.002";
    EXPECT_EQ(bar_number(5e-4, false, {-5e-4, 5e-4}), "5e\u22124");
}

TEST(Tokens, LevelsBecomeGreyAndMissingPixelsTransparent) {
    const std::vector<uint8_t> tokens = {0, 15, 7, 3};
    const Image grey = token_pixels(
        {.tokens = tokens, .height = 2, .width = 2, .channels = 1, .levels = 16, .known = 3});
    EXPECT_EQ(grey.pixels[0], 0);
    EXPECT_EQ(grey.pixels[4], 255);
    EXPECT_EQ(grey.pixels[8], 119);  // round(255 * 7 / 15)
    EXPECT_EQ(grey.pixels[3], 255);
    EXPECT_EQ(grey.pixels[15], 0) << "the fourth is not there yet";
    const std::vector<uint8_t> rgb = {1, 2, 3};
    const Image one = token_pixels({.tokens = rgb, .height = 1, .width = 1, .channels = 3});
    EXPECT_EQ(one.pixels, (std::vector<uint8_t>{1, 2, 3, 255}));
}

TEST(Theme, ContrastIsWhatLookPromises) {
    struct ThemeContrast {
        ThemeName name;
        double text1, text2, text3, accent, ok, warn, error, fill;  // on pane; white on fill
    };
    for (const ThemeContrast& row :
         {ThemeContrast{ThemeName::dark, 14.7, 8.4, 6.0, 8.4, 8.1, 10.0, 7.1, 4.8},
          ThemeContrast{ThemeName::light, 16.9, 7.7, 5.9, 6.3, 5.6, 5.8, 5.6, 5.9},
          ThemeContrast{ThemeName::high_contrast, 21, 16.5, 12, 15.1, 14.7, 13.1, 10.3, 15.1}}) {
        const Theme& c = theme_of(row.name);
        const std::pair<uint32_t, double> expected[] = {
            {c.text1, row.text1},   {c.text2, row.text2}, {c.text3, row.text3},
            {c.accent, row.accent}, {c.ok, row.ok},       {c.warn, row.warn},
            {c.error, row.error}};
        for (const auto& [color, ratio] : expected)
            EXPECT_NEAR(contrast_ratio(color, c.pane), ratio, 0.06) << std::hex << color;
        EXPECT_NEAR(contrast_ratio(c.ink, c.fill), row.fill, 0.06);
        for (const uint32_t series : c.series)
            EXPECT_GE(contrast_ratio(series, c.pane), row.name == ThemeName::light ? 4.5 : 5.15);
        for (const uint32_t ground : {c.bar, c.pane, c.raised, c.field})
            for (const uint32_t text : {c.text1, c.text2, c.text3})
                EXPECT_GE(contrast_ratio(text, ground), 4.5);
    }
}

TEST(Theme, LabelsOfLayersAndSeriesAreReadable) {
    for (const ThemeName name : {ThemeName::dark, ThemeName::light, ThemeName::high_contrast}) {
        const Theme& theme = theme_of(name);
        std::vector<ImU32> colors(theme.series.begin(), theme.series.end());
        for (int layer = 0; layer < 24; ++layer)
            colors.push_back(ordered_color(layer / 23.0, name == ThemeName::light));
        for (const ImU32 color : colors)
            for (const ImU32 ground : {theme.pane, theme.bar, theme.raised}) {
                const ImU32 label = label_color(theme, color, ground);
                EXPECT_GE(contrast_ratio(label, ground), 4.5) << int(name) << std::hex << color;
                EXPECT_EQ(label == color, contrast_ratio(color, ground) >= 4.5)
                    << "a colour that is readable stays as it is";
            }
    }
}

TEST(Theme, InkOnEveryMapColourIsReadable) {
    for (const Colormap map : {Colormap::ember_dark, Colormap::ember_light, Colormap::viridis,
                               Colormap::cividis, Colormap::grey})
        for (const Rgb& c : colormap_table(map)) {
            const ImU32 ground = IM_COL32(c[0], c[1], c[2], 255);
            EXPECT_GE(contrast_ratio(ink_on(ground), ground), 4.2);
        }
}

TEST(Shader, ErrorsNameFileAndLine) {
    const gl::ShaderText text{"", {"a/map.frag", "a/colormap.glsl"}};
    EXPECT_EQ(gl::name_shader_lines("1:12(3): error: no such name\n", text),
              "a/colormap.glsl:12: error: no such name\n");
    EXPECT_EQ(gl::name_shader_lines("0(7) : error C1: x\n", text), "a/map.frag:7: error C1: x\n");
    EXPECT_EQ(gl::name_shader_lines("nothing known\n", text), "nothing known\n");
}

}  // namespace
}  // namespace aft::viz
