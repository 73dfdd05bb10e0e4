// Documents of what Dear ImGui drew: shapes, pictures, clips and the region. Words: draw_text_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "core/check.h"
#include "tests/viz/scenes.h"
#include "tests/viz/svg_elements.h"

namespace aft::viz {
namespace {

using With = Stage::With;
constexpr ImU32 kRed = 0xFF0000FF, kGlass = 0x800000FF;  // half as opaque

std::string one_fill(const std::string& svg, const char* name) {
    const auto found = drawn_elements(svg, name);
    EXPECT_EQ(found.size(), 1U) << svg;
    return found.empty() ? "" : found.back().at("fill");
}

// Corners of a path's data.
Box path_extent(const std::string& data) {
    Box out{{1e9F, 1e9F}, {-1e9F, -1e9F}};
    std::string numbers = data;
    for (char& c : numbers)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) c = ' ';
    const char* at = numbers.c_str();
    for (;;) {
        char* end = nullptr;
        const float x = std::strtof(at, &end);
        if (end == at) return out;
        const float y = std::strtof(end, &end);
        at = end;
        out.low = {std::min(out.low.x, x), std::min(out.low.y, y)};
        out.high = {std::max(out.high.x, x), std::max(out.high.y, y)};
    }
}

TEST(DrawSvg, ARectangleIsARectangle) {
    Stage stage(With::no_opengl);
    const std::string svg = svg_of(
        stage, [](ImDrawList& list) { list.AddRectFilled({10.5F, 20}, {110.5F, 60}, kGlass); });
    ASSERT_EQ(drawn_rects(svg).size(), 1U);
    const SvgElement rect = drawn_rects(svg)[0];
    EXPECT_EQ(rect.at("fill"), "#FF0000");
    expect_box(place_of(rect), {{10.5F, 20}, {110.5F, 60}}, 0.01F);
    EXPECT_NEAR(rect.number("fill-opacity"), 128 / 255.0, 0.002);
    EXPECT_TRUE(rect.clip.empty());
}

TEST(DrawSvg, RoundedCornersAndCirclesAreOneElement) {
    Stage stage(With::no_opengl);
    std::string svg =
        svg_of(stage, [](ImDrawList& list) { list.AddRectFilled({10, 20}, {110, 60}, kRed, 8); });
    EXPECT_EQ(one_fill(svg, "path"), "#FF0000");
    const std::string data = drawn_elements(svg, "path")[0].at("d");
    EXPECT_EQ(std::count(data.begin(), data.end(), 'M'), 1);
    expect_box(path_extent(data), {{10, 20}, {110, 60}}, 0.02F);

    svg = svg_of(stage, [](ImDrawList& list) { list.AddCircleFilled({50, 70}, 12, kRed); });
    const auto circles = drawn_elements(svg, "circle");
    ASSERT_EQ(circles.size(), 1U);
    EXPECT_NEAR(circles[0].number("cx"), 50, 0.02);
    EXPECT_NEAR(circles[0].number("cy"), 70, 0.02);
    EXPECT_NEAR(circles[0].number("r"), 12, 0.02);
}

TEST(DrawSvg, LinesAreStrokes) {
    Stage stage(With::no_opengl);
    const ImVec2 points[] = {{10, 10}, {30, 25}, {55, 20}, {80, 90}};
    std::string svg =
        svg_of(stage, [&](ImDrawList& list) { list.AddPolyline(points, 4, kGlass, 0, 3); });
    auto paths = drawn_elements(svg, "path");
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(paths[0].at("d"), "M10 10L30 25L55 20L80 90");
    EXPECT_EQ(paths[0].at("fill"), "none");
    EXPECT_EQ(paths[0].at("stroke"), "#FF0000");
    EXPECT_EQ(paths[0].at("stroke-width"), "3");
    EXPECT_NEAR(paths[0].number("stroke-opacity"), 128 / 255.0, 0.002);

    svg = svg_of(stage, [](ImDrawList& list) { list.AddRect({10, 20}, {60, 50}, kRed); });
    paths = drawn_elements(svg, "path");
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(paths[0].at("stroke-width"), "1");
    EXPECT_EQ(paths[0].at("d").back(), 'Z');
    expect_box(path_extent(paths[0].at("d")), {{10.5F, 20.5F}, {59.5F, 49.5F}}, 0.02F);
    EXPECT_EQ(paths[0].at("stroke-linejoin"), "") << "square corners";
}

TEST(DrawSvg, PiecesThatShareAnEdgeAreOnePathAndOthersAreTheirOwn) {
    Stage stage(With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        for (int i = 0; i < 5; ++i) {
            const float x = 10 + 7.3F * float(i), high = 40 + 3 * float(i);
            list.AddQuadFilled({x, high}, {x + 7.3F, high + 3}, {x + 7.3F, 90}, {x, 90}, kGlass);
        }
        list.AddTriangleFilled({200, 10}, {220, 30}, {180, 30}, kGlass);
        list.AddTriangleFilled({200, 110}, {220, 130}, {180, 130}, 0xFF00FF00);
    });
    const auto paths = drawn_elements(svg, "path");
    ASSERT_EQ(paths.size(), 3U);
    const std::string data = paths[0].at("d");
    EXPECT_EQ(std::count(data.begin(), data.end(), 'M'), 5);
    EXPECT_EQ(paths[1].at("fill"), "#FF0000");
    EXPECT_EQ(paths[2].at("fill"), "#00FF00");
}

TEST(DrawSvg, PiecesOfOnePathTurnTheSameWay) {
    Stage stage(With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        list.AddTriangleFilled({10, 10}, {60, 10}, {10, 60}, kRed);
        list.AddTriangleFilled({60, 10}, {10, 60}, {60, 70}, kRed);  // the other way round
    });
    const auto paths = drawn_elements(svg, "path");
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(paths[0].at("d"), "M10 10L60 10L10 60ZM60 70L10 60L60 10Z");
}

TEST(DrawSvg, AColourBarIsOneGradient) {
    Stage stage(With::no_opengl);
    const ImU32 colors[] = {0xFF0000FF, 0xFF00FF00, 0xFFFF0000, 0xFFFFFFFF};
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        for (int i = 0; i < 3; ++i)
            list.AddRectFilledMultiColor({20 + 10.3F * float(i), 30},
                                         {30.3F + 10.3F * float(i), 42}, colors[i], colors[i + 1],
                                         colors[i + 1], colors[i]);
        list.AddRectFilledMultiColor({100, 30}, {120, 80}, kRed, kRed, 0x000000FF, 0x000000FF);
    });
    std::vector<SvgElement> gradients, stops;
    for (const SvgElement& e : svg_elements(svg)) {
        if (e.name == "linearGradient") gradients.push_back(e);
        if (e.name == "stop") stops.push_back(e);
    }
    ASSERT_EQ(gradients.size(), 2U);
    ASSERT_EQ(stops.size(), 6U);
    EXPECT_NEAR(gradients[0].number("x1"), 20, 0.01);
    EXPECT_NEAR(gradients[0].number("x2"), 50.9, 0.01);
    EXPECT_NEAR(gradients[1].number("y2") - gradients[1].number("y1"), 50, 0.01);
    EXPECT_EQ(stops[1].at("stop-color"), "#00FF00");
    EXPECT_NEAR(stops[1].number("offset"), 1 / 3.0, 0.001);
    EXPECT_EQ(stops[5].at("stop-opacity"), "0");
    const auto rects = drawn_rects(svg);
    ASSERT_EQ(rects.size(), 2U);
    expect_box(place_of(rects[0]), {{20, 30}, {50.9F, 42}}, 0.01F);
    EXPECT_EQ(rects[0].at("fill"), "url(#" + gradients[0].at("id") + ")");
}

TEST(DrawSvg, SoftEdgesLieWhereHardOnesWould) {
    Stage stage(With::no_opengl);
    std::string svg =
        svg_of(stage, [](ImDrawList& list) { list.AddRectFilled({10, 20}, {110, 60}, kGlass, 8); },
               {.is_soft = true});
    EXPECT_EQ(one_fill(svg, "path"), "#FF0000");
    SvgElement path = drawn_elements(svg, "path")[0];
    expect_box(path_extent(path.at("d")), {{10, 20}, {110, 60}}, 0.1F);
    EXPECT_NEAR(path.number("fill-opacity"), 128 / 255.0, 0.002) << "one opacity, also of the rim";

    for (const float thick : {1.0F, 4.0F}) {  // baked lines
        svg = svg_of(
            stage,
            [&](ImDrawList& list) { list.AddLine({9.5F, 19.5F}, {99.5F, 19.5F}, kRed, thick); },
            {.is_soft = true});
        const auto lines = drawn_elements(svg, "path");
        ASSERT_EQ(lines.size(), 1U) << svg;
        const Box box = path_extent(lines[0].at("d"));
        EXPECT_NEAR(box.height(), thick, 0.05F);
        EXPECT_NEAR((box.low.y + box.high.y) / 2, 20, 0.05F);
    }
}

TEST(DrawSvg, WhatReachesBeyondItsClipIsCut) {
    Stage stage(With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        list.PushClipRect({50, 50}, {100, 100}, true);
        list.AddRectFilled({10, 60}, {70, 200}, kRed);
        list.AddCircleFilled({50, 80}, 20, kRed);
        list.AddCircleFilled({80, 80}, 10, kRed);
        list.AddCircleFilled({100, 90}, 20, kRed);
        list.AddCircleFilled({300, 300}, 20, kRed);
        list.PopClipRect();
    });
    const auto circles = drawn_elements(svg, "circle");
    ASSERT_EQ(circles.size(), 3U) << "one is outside";
    EXPECT_FALSE(circles[0].clip.empty());
    EXPECT_TRUE(circles[1].clip.empty()) << "it lies inside";
    EXPECT_EQ(circles[2].clip, circles[0].clip);
    ASSERT_EQ(drawn_rects(svg).size(), 1U);
    expect_box(place_of(drawn_rects(svg)[0]), {{50, 60}, {70, 100}}, 0.01F);
    for (const SvgElement& e : svg_elements(svg))
        if (e.name == "rect" && e.above.back() == "clipPath")
            expect_box(place_of(e), {{50, 50}, {100, 100}}, 0.01F);
}

TEST(DrawSvg, OnlyTheRegionIsWrittenFromItsOwnCorner) {
    Stage stage(With::no_opengl);
    const std::string svg =
        svg_of(stage,
               [](ImDrawList& list) {
                   list.AddRectFilled({110, 120}, {130, 150}, kRed);
                   list.AddRectFilled({10, 20}, {90, 90}, 0xFF123456);
                   list.AddRectFilled({280, 180}, {400, 400}, 0xFF00FF00);
                   list.AddText({120, 160}, kRed, "inside");
                   list.AddText({120, 360}, kRed, "outside");
                   list.AddImage(ImTextureID{77}, {500, 500}, {550, 550});
               },
               {.region = {{100, 100}, {300, 200}}, .read_texture = [](ImTextureID) {
                    ADD_FAILURE() << "it is not shown";
                    return Image{1, 1, 1, {200}};
                }});
    const SvgElement root = svg_elements(svg)[0];
    EXPECT_EQ(root.name, "svg");
    EXPECT_EQ(root.at("width"), "200");
    EXPECT_EQ(root.at("viewBox"), "0 0 200 100");
    EXPECT_EQ(drawn_elements(svg, "title")[0].words, "a <title>");
    const auto rects = drawn_rects(svg);
    ASSERT_EQ(rects.size(), 2U);
    expect_box(place_of(rects[0]), {{10, 20}, {30, 50}}, 0.01F);
    expect_box(place_of(rects[1]), {{180, 80}, {200, 100}}, 0.01F);
    EXPECT_NEAR(drawn_elements(svg, "text").at(0).number("x"), 20, 0.01);
    EXPECT_EQ(svg.find("outside"), std::string::npos);
    EXPECT_EQ(svg.find("#563412"), std::string::npos);
    EXPECT_EQ(svg.find("<image"), std::string::npos);
}

TEST(DrawSvg, CallbacksAreNotCalledAndNoNumbersAreLeftOut) {
    Stage stage(With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        list.AddCallback([](const ImDrawList*, const ImDrawCmd*) { FAIL() << "called"; }, nullptr);
        list.AddTriangleFilled({NAN, 10}, {60, 10}, {10, 60}, kRed);
        list.AddRectFilled({10, 10}, {INFINITY, 20}, kRed);
        list.AddRectFilled({10, 20}, {30, 40}, kRed);
    });
    EXPECT_EQ(drawn_rects(svg).size(), 1U);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(DrawSvg, ARegionOfNoAreaIsAnError) {
    Stage stage(With::no_opengl);
    EXPECT_THROW(
        static_cast<void>(svg_of(stage, [](ImDrawList&) {}, {.region = {{10, 10}, {10, 20}}})),
        Error);
}

TEST(DrawSvg, ACurveOfManyPointsIsAFewStrokes) {
    Stage stage(With::no_opengl);
    CurveScene curves(4000);
    const std::string svg =
        svg_of(stage, [&](ImDrawList&) { curves.draw(stage.look, {780, 560}, false); });
    const auto paths = drawn_elements(svg, "path");
    EXPECT_GT(paths.size(), 1U);
    EXPECT_LT(paths.size(), 60U);
    EXPECT_GT(drawn_elements(svg, "text").size(), 6U);
    EXPECT_LT(svg.size(), 300'000U);
    EXPECT_GT(svg.size(), 5'000U);
}

}  // namespace
}  // namespace aft::viz
