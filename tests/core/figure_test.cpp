// Figures: what is described stands in the SVG as text and in the PNG as pixels of the right
// colour.
#include <gtest/gtest.h>

#include <cmath>

#include "core/caught.h"
#include "core/check.h"
#include "core/figure/glyphs.h"
#include "core/figure/quantity.h"
#include "core/figure/scene.h"
#include "core/files.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

FigureScene two_maps() {
    FigureTile first, second;
    first.rows = second.rows = 2;
    first.columns = second.columns = 3;
    first.values = {0, 1, 2, 3, 4, 5};
    second.values = {5, std::nanf(""), 0, 0, 0, 0};
    FigureRow row{"layer 0", {first, second}, ColorKey{{{0, 5}, Scale::linear, Colormap::viridis}}};
    FigureScene scene;
    scene.title = "Maps <of> \"two\" & more";
    scene.notes = {"a note"};
    FigureGrid grid;
    grid.column_labels = {"head 0", "head 1"};
    grid.rows.push_back(row);
    scene.parts.emplace_back(grid);
    return scene;
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

const ImageMark& image_mark(const FigureDrawing& drawing, size_t number) {
    for (const DrawMark& mark : drawing.marks)
        if (const auto* const image = std::get_if<ImageMark>(&mark))
            if (number-- == 0) return *image;
    throw std::runtime_error("no such image");
}

TEST(FigureScenes, SvgHoldsWordsAsText) {
    const std::string svg = to_svg(draw_figure(two_maps()));
    EXPECT_NE(svg.find(">Maps &lt;of&gt; &quot;two&quot; &amp; more</text>"), std::string::npos);
    for (const char* words : {">a note<", ">layer 0<", ">head 1<", ">0<", ">5<"})
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    EXPECT_EQ(count_of(svg, "<image "), 3U);    // two maps and the bar
    EXPECT_EQ(count_of(svg, "<pattern "), 1U);  // of the hidden cell
    EXPECT_EQ(count_of(svg, "<svg "), count_of(svg, "</svg>"));
}

TEST(FigureScenes, ControlCharactersLeaveTheSvg) {
    FigureScene scene = two_maps();
    scene.title =
        "a\x01"
        "b\x1b[0m";
    const std::string svg = to_svg(draw_figure(scene));
    EXPECT_NE(svg.find(">ab[0m</text>"), std::string::npos);
}

// A bare server has no fonts: PNG figures are refused there.
std::string missing_font() {
    return error_words([] { const GlyphSource letters; });
}

TEST(FigureScenes, PngHasTheColoursOfTheMaps) {
    if (!missing_font().empty()) GTEST_SKIP() << missing_font();
    const FigureDrawing drawing = draw_figure(two_maps());
    for (const int scale : {1, 2, 4}) {
        const Image image = to_image(drawing, scale);
        EXPECT_EQ(image.width, static_cast<int64_t>(drawing.width) * scale);
        EXPECT_EQ(image.height, static_cast<int64_t>(drawing.height) * scale);
        const DrawBox& box = image_mark(drawing, 0).box;
        for (int cell = 0; cell < 6; ++cell) {
            const auto x = static_cast<int64_t>((box.x + box.width * (cell % 3 + 0.5) / 3) * scale);
            const auto y =
                static_cast<int64_t>((box.y + box.height * (cell / 3 + 0.5) / 2) * scale);
            const Rgb wanted = map_color(cell, {0, 5}, Scale::linear, Colormap::viridis);
            for (size_t c = 0; c < 3; ++c)
                EXPECT_EQ(image.pixels[static_cast<size_t>(y * image.width + x) * 3 + c], wanted[c])
                    << cell << " at scale " << scale;
        }
    }
}

TEST(FigureScenes, PngHasLetters) {
    if (!missing_font().empty()) GTEST_SKIP() << missing_font();
    FigureScene scene;
    scene.title = "HHHH";
    const FigureDrawing drawing = draw_figure(scene);
    const Image image = to_image(drawing, 2);
    int64_t dark = 0;
    for (size_t i = 0; i < image.pixels.size(); i += 3) dark += image.pixels[i] < 128;
    EXPECT_GT(dark, 200);
    scene.is_dark = true;
    const Image night = to_image(draw_figure(scene), 2);
    EXPECT_LT(night.pixels[0], 64);
    EXPECT_GT(image.pixels[0], 250);
}

TEST(FigureScenes, EmberFollowsTheGround) {
    FigureScene scene = two_maps();
    std::get<FigureGrid>(scene.parts[0]).rows[0].key =
        ColorKey{{{-5, 5}, Scale::signed_linear, Colormap::ember_light}};
    const auto zero = [&] {
        const FigureDrawing drawing = draw_figure(scene);
        return image_mark(drawing, 0).image.pixels[0];
    };
    EXPECT_GT(zero(), 200);
    scene.is_dark = true;
    EXPECT_LT(zero(), 60);
}

TEST(FigureScenes, PlotsHaveAxesAndSkipWhatIsNoNumber) {
    FigureScene scene;
    FigurePlot plot;
    plot.x_label = "step";
    plot.y_label = "loss, bits/dim";
    plot.series.push_back({.name = "run 1",
                           .x = {0, 50, 100, 150},
                           .y = {2, std::nan(""), 1, 0.5},
                           .low = {},
                           .high = {},
                           .has_dots = true});
    scene.parts.emplace_back(plot);
    const std::string svg = to_svg(draw_figure(scene));
    for (const char* words : {">step<", ">loss, bits/dim<", ">run 1<", ">100<", ">0.5<"})
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    EXPECT_EQ(count_of(svg, "<circle "), 4U);  // three values and the legend
    EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(FigureScenes, NamesAtTheEndsOfLinesStandApart) {
    FigureScene scene;
    FigurePlot plot;
    plot.names_at_ends = true;
    plot.y_ticks = {{0, "1"}, {1, "10"}};
    for (const char* name : {"first", "second", "third"})
        plot.series.push_back({.name = name, .x = {0, 1}, .y = {0, 1}});
    scene.parts.emplace_back(plot);
    const FigureDrawing drawing = draw_figure(scene);
    std::vector<double> places;
    size_t ticks = 0;
    for (const DrawMark& mark : drawing.marks) {
        const auto* const text = std::get_if<TextMark>(&mark);
        if (text == nullptr) continue;
        ticks += text->words == "10" ? 1 : 0;
        if (text->words != "first" && text->words != "second" && text->words != "third") continue;
        places.push_back(text->at.y);
        EXPECT_LT(text->at.x + text_width(text->words, text->size), drawing.width);
    }
    EXPECT_EQ(ticks, 1u);
    ASSERT_EQ(places.size(), 3u);
    EXPECT_GE(places[1] - places[0], 14);
    EXPECT_GE(places[2] - places[1], 14);
}

TEST(FigureScenes, EmptyPlotsAndOneValueAreDrawn) {
    FigureScene scene;
    FigurePlot plot;
    scene.parts.emplace_back(plot);
    EXPECT_EQ(to_svg(draw_figure(scene)).find("nan"), std::string::npos);
    plot.series.push_back({.name = "", .x = {3}, .y = {1e-12}, .low = {}, .high = {}});
    scene.parts.emplace_back(plot);
    EXPECT_EQ(to_svg(draw_figure(scene)).find("nan"), std::string::npos);
}

TEST(FigureScenes, BlocksKeepTheLargestMagnitude) {
    FigureTile tile;
    tile.rows = 3;
    tile.columns = 5;
    tile.values = {0, 1, 2, -9, 4, 5, 6, 7, 8, 3, std::nanf(""), 0, 1, 0, std::nanf("")};
    EXPECT_EQ(reduce_tile(tile, 5), 1);
    EXPECT_EQ(reduce_tile(tile, 3), 2);
    EXPECT_EQ(tile.rows, 2);
    EXPECT_EQ(tile.columns, 3);
    EXPECT_EQ(tile.values[0], 6);
    EXPECT_EQ(tile.values[1], -9);
    EXPECT_EQ(tile.values[2], 4);
    EXPECT_EQ(tile.values[3], 0);
    EXPECT_TRUE(std::isnan(tile.values[5]));
}

TEST(FigureScenes, NumbersHaveThreeDigits) {
    EXPECT_EQ(figure_number(0), "0");
    EXPECT_EQ(figure_number(12.449), "12.4");
    EXPECT_EQ(figure_number(-0.8249), "\u22120.825");
    EXPECT_EQ(figure_number(1), "1");
    EXPECT_EQ(figure_number(250), "250");
    EXPECT_EQ(figure_number(3.5e-6), "3.5e\u22126");
    EXPECT_EQ(figure_number(12345), "1.2e4");
}

TEST(FigureScenes, KeysCoverTheValues) {
    const std::vector<float> values{-0.5F, 0, 2, std::nanf(""), INFINITY};
    const ColorKey minus = color_key(quantity_style("exp-1", ""), values, 100);
    EXPECT_EQ(minus.coloring.range, (Range{-1, 2}));
    const ColorKey share = color_key(quantity_style("", "share"), values, 100);
    EXPECT_EQ(share.coloring.range, (Range{-0.5, 2}));
    EXPECT_EQ(value_span(values).low, -0.5);
    EXPECT_EQ(value_span(values).high, 2);
}

TEST(FigureScenes, TooLargeAPictureIsAUsageError) {
    FigureScene scene;
    FigureGrid grid;
    for (int i = 0; i < 200; ++i) {
        FigureRow row{"layer", {}, ColorKey{}};
        FigureTile tile;
        tile.rows = tile.columns = 100;
        tile.values.assign(10000, 0);
        row.tiles.push_back(tile);
        grid.rows.push_back(row);
    }
    scene.parts.emplace_back(grid);
    const Scratch folder;
    try {
        write_figure(folder / "large.png", scene, 4);
        FAIL() << "it was written";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("--scale"), std::string::npos);
    }
    write_figure(folder / "large.svg", scene, 4);
    EXPECT_GT(read_file(folder / "large.svg").size(), 1000U);
}

TEST(FigureScenes, WordsAreAsWideAsTheirLetters) {
    EXPECT_NEAR(text_width("HH", 10), 14.8, 1e-9);
    EXPECT_NEAR(text_width("\u2212", 10), 7, 1e-9);
    EXPECT_GT(text_width("HH", 10, true), text_width("HH", 10));
}

}  // namespace
}  // namespace aft
