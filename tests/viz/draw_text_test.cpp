// Words of documents: as they were written, in their fonts, at their places.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <implot.h>
// It needs the one above.
#include <implot_internal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "tests/viz/svg_elements.h"
#include "viz/color_bar.h"
#include "viz/map.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

constexpr ImU32 kInk = 0xFF102030;

std::vector<std::string> words_of(const std::string& svg) {
    std::vector<std::string> out;
    for (const SvgElement& text : drawn_elements(svg, "text")) out.push_back(text.words);
    return out;
}

using Words = std::vector<std::string>;

// At blanks: neighbours on a line are one text.
Words split_words(const Words& texts) {
    std::istringstream all(fmt::format("{}", fmt::join(texts, " ")));
    return {std::istream_iterator<std::string>(all), {}};
}

TEST(DrawText, WordsComeBackAsWritten) {
    Stage stage(Stage::With::no_opengl);
    const Words lines = {"Plain words, and  two spaces", "a < b & \"c\" > 'd'",
                         "Gr\u00F6\u00DFe \u00B1 3", "x"};
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        for (size_t i = 0; i < lines.size(); ++i)
            list.AddText({20, 30 + 20 * float(i)}, kInk, lines[i].c_str());
    });
    EXPECT_EQ(words_of(svg), lines);
    const auto texts = drawn_elements(svg, "text");
    EXPECT_EQ(texts[0].at("xml:space"), "preserve");
    EXPECT_EQ(texts[1].at("xml:space"), "");
    EXPECT_EQ(texts[0].at("fill"), "#302010");
}

// Offsets are counted from their middle: 0 has its number, whatever step there is space for.
TEST(DrawText, OffsetsHaveTheNumberOfTheMiddle) {
    Stage stage(Stage::With::no_opengl);
    const std::vector<float> values(31 * 31, 1);
    for (const float side : {160.0F, 250.0F, 340.0F}) {
        Map map;
        MapView view;
        view.data = {.values = values, .rows = 31, .columns = 31, .hidden = {}, .version = 1};
        view.coloring = {{0, 1}, Scale::linear, Colormap::grey};
        view.area = {side, side};
        view.row_label = view.column_label = [](int64_t i) { return std::to_string(i - 15); };
        view.row_origin = view.column_origin = 15;
        const Words words = words_of(
            svg_of(stage, [&](ImDrawList&) { static_cast<void>(map.draw(view, stage.look)); }));
        const Words numbers = split_words(words);
        EXPECT_EQ(std::ranges::count(numbers, "0"), 2) << fmt::format("{}", numbers);
        EXPECT_LT(numbers.size(), 40U) << fmt::format("{}", numbers);
    }
}

// Of values that two decimals would call 0.
TEST(DrawText, TinyValuesHavePowersOfTenOrNoNumber) {
    Stage stage(Stage::With::no_opengl);
    const std::vector<float> values{1.25e-6F, 3e-6F, 0, 2e-6F};
    const auto numbers = [&](int zoom) {
        Map map;
        MapView view;
        view.data = {.values = values, .rows = 2, .columns = 2, .hidden = {}, .version = 1};
        view.coloring = {{-3e-6, 3e-6}, Scale::signed_linear, Colormap::grey};
        view.area = {400, 400};
        view.zoom = zoom;
        return words_of(
            svg_of(stage, [&](ImDrawList&) { static_cast<void>(map.draw(view, stage.look)); }));
    };
    EXPECT_EQ(numbers(60), Words{}) << "no space for powers";
    EXPECT_EQ(split_words(numbers(100)), (Words{"1.25e?6", "3e?6", "0", "2e?6"}));
}

// U+2212 is "?" in the font of this stage.
TEST(DrawText, BarsOfASignHaveTicksOnBothSidesOrNeither) {
    Stage stage(Stage::With::no_opengl);
    int inner = 0;
    for (const Scale scale : {Scale::signed_linear, Scale::signed_log})
        for (const float high : {0.0123F, 0.5F, 3.0F, 41.7F})
            for (float width = 110; width < 420; width += 7) {
                ColorBarView view{.coloring = {{-high, high}, scale, Colormap::grey}};
                view.width = width;
                Words words = split_words(words_of(svg_of(stage, [&](ImDrawList&) {
                    static_cast<void>(draw_color_bar(view, stage.look));
                })));
                std::erase(words, "0");
                inner += int(words.size()) - 2;
                std::ranges::sort(words);
                Words mirrored;
                for (const std::string& w : words)
                    mirrored.push_back(w.starts_with("?") ? w.substr(1) : "?" + w);
                std::ranges::sort(mirrored);
                EXPECT_EQ(words, mirrored) << high << " at " << width;
            }
    EXPECT_GT(inner, 100);
}

TEST(DrawText, TheyStandWhereTheyStood) {
    Stage stage(Stage::With::no_opengl);
    ImVec2 extent;
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        list.AddText({40, 60}, kInk, "first");
        list.AddText(nullptr, 26, {50, 160}, kInk, "Second line\nthird");
        extent = ImGui::GetFont()->CalcTextSizeA(26, FLT_MAX, 0, "Second line");
    });
    const auto texts = drawn_elements(svg, "text");
    ASSERT_EQ(words_of(svg), (Words{"first", "Second line", "third"}));
    EXPECT_NEAR(texts[0].number("x"), 40, 0.05);
    EXPECT_NEAR(texts[1].number("x"), 50, 0.05);
    EXPECT_GT(texts[1].number("y"), 160 + 13);  // the baseline
    EXPECT_LT(texts[1].number("y"), 160 + 26);
    EXPECT_NEAR(texts[2].number("y") - texts[1].number("y"), 26, 0.05);
    EXPECT_NEAR(texts[1].number("textLength"), double(extent.x), 0.1);
    EXPECT_NEAR(texts[1].number("font-size") / texts[0].number("font-size"),
                26 / double(ImGui::GetStyle().FontSizeBase), 0.01);
}

TEST(DrawText, OtherColoursSizesAndColumnsAreOtherTexts) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        const float space = ImGui::CalcTextSize(" ").x;
        list.AddText({20, 30}, kInk, "one");
        list.AddText({20 + ImGui::CalcTextSize("one").x, 30}, 0xFF0000FF, "two");
        list.AddText({20, 60}, kInk, "left");
        list.AddText({20 + ImGui::CalcTextSize("left").x + 40 * space, 60}, kInk, "right");
        list.AddText({20, 90}, kInk, "low");
        list.AddText({20 + ImGui::CalcTextSize("low").x, 92}, kInk, "er");
    });
    EXPECT_EQ(words_of(svg), (Words{"one", "two", "left", "right", "low", "er"}));
}

TEST(DrawText, LettersThatAreCutKeepTheirClip) {
    Stage stage(Stage::With::no_opengl);
    const std::string word = "Interpretation";
    ImVec4 fine;
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        const float half = std::floor(ImGui::CalcTextSize("Interp").x + 2);  // within the r
        fine = {20, 36, 20 + half, 90};
        list.AddText(nullptr, 0, {20, 30}, kInk, word.c_str(), nullptr, 0, &fine);
        list.PushClipRect({100, 100}, {100 + half, 120});
        list.AddText({100, 100}, kInk, word.c_str());
        list.PopClipRect();
    });
    const auto texts = drawn_elements(svg, "text");
    ASSERT_EQ(words_of(svg), (Words{"Interpr", "Interpr"}));
    ASSERT_FALSE(texts[0].clip.empty());
    ASSERT_FALSE(texts[1].clip.empty());
    const auto elements = svg_elements(svg);
    for (size_t i = 1; i < elements.size(); ++i) {
        if (elements[i - 1].at("id") != texts[0].clip) continue;
        const double right = elements[i].number("x") + elements[i].number("width");
        EXPECT_NEAR(right, double(fine.z), 0.05);
        EXPECT_NEAR(elements[i].number("y"), 36, 0.05);
    }
    EXPECT_NEAR(texts[0].number("x"), 20, 0.05);
    EXPECT_NEAR(texts[0].number("y") - 30, texts[1].number("y") - 100, 0.05);
}

TEST(DrawText, TextThatGoesUpIsTurned) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        ImPlot::AddTextVertical(&list, {30, 200}, kInk, "going up");
    });
    ASSERT_EQ(words_of(svg), (Words{"going up"})) << svg;
    const SvgElement text = drawn_elements(svg, "text")[0];
    EXPECT_EQ(text.at("transform").substr(0, 11), "rotate(-90 ");
    EXPECT_NEAR(text.number("y"), 200, 0.05);
    EXPECT_GT(text.number("x"), 30);
    EXPECT_LT(text.number("x"), 30 + double(ImGui::GetStyle().FontSizeBase));
}

// The fonts of the window, from where Debian has them.
struct RealFonts {
    const char* inter = "/usr/share/fonts/opentype/inter/Inter-Regular.otf";
    const char* semibold = "/usr/share/fonts/opentype/inter/Inter-SemiBold.otf";
    const char* mono = "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf";
    const char* icons =
        "/usr/share/fonts/truetype/material-design-icons-iconfont/MaterialIcons-Regular.ttf";
    ImFont *text = nullptr, *bold = nullptr, *code = nullptr;

    [[nodiscard]] bool are_there() const {
        for (const char* path : {inter, semibold, mono, icons})
            if (!std::filesystem::exists(path)) return false;
        return true;
    }
    void load() {
        ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
        static constexpr ImWchar kPrivate[] = {0xE000, 0xF8FF, 0};
        ImFontConfig letters;
        letters.GlyphExcludeRanges = kPrivate;
        text = atlas.AddFontFromFileTTF(inter, 16, &letters);
        ImFontConfig merged;
        merged.MergeMode = true;
        merged.GlyphOffset = {0, 1};
        atlas.AddFontFromFileTTF(icons, 16, &merged);
        bold = atlas.AddFontFromFileTTF(semibold, 16);
        code = atlas.AddFontFromFileTTF(mono, 16);
    }
};

TEST(DrawText, FamiliesAndWeightsAreThoseOfTheFonts) {
    RealFonts fonts;
    if (!fonts.are_there()) GTEST_SKIP() << "Inter, JetBrains Mono and Material Icons are missing";
    Stage stage(Stage::With::no_opengl);
    fonts.load();
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        list.AddText(fonts.text, 20, {20, 30}, kInk,
                     "\u03B1 \u2264 \u03A9, \u00C4rger, AVA 16x16 -> 7");
        list.AddText(fonts.bold, 16, {20, 60}, kInk, "Bold");
        list.AddText(fonts.code, 16, {20, 90}, kInk, "mono != type");
    });
    ASSERT_EQ(words_of(svg),
              (Words{"\u03B1 \u2264 \u03A9, \u00C4rger, AVA 16x16 -> 7", "Bold", "mono != type"}));
    const auto texts = drawn_elements(svg, "text");
    EXPECT_EQ(texts[0].at("font-family").substr(0, 8), "'Inter',");
    EXPECT_EQ(texts[0].at("font-weight"), "");
    // Inter is 1.21 em from ascent to descent, which is what Dear ImGui calls its size.
    EXPECT_NEAR(texts[0].number("font-size"), 20 / 1.21, 0.05);
    EXPECT_EQ(texts[1].at("font-family"), texts[0].at("font-family"));
    EXPECT_EQ(texts[1].at("font-weight"), "600");
    EXPECT_EQ(texts[2].at("font-family").substr(0, 17), "'JetBrains Mono',");
    EXPECT_NE(texts[2].at("font-family").find("monospace"), std::string::npos);
}

TEST(DrawText, IconsAreOutlines) {
    RealFonts fonts;
    if (!fonts.are_there()) GTEST_SKIP() << "Inter, JetBrains Mono and Material Icons are missing";
    Stage stage(Stage::With::no_opengl);
    fonts.load();
    const std::string svg = svg_of(stage, [&](ImDrawList& list) {
        list.AddText(fonts.text, 24, {20, 30}, kInk, "\uE037 Play");  // a triangle
    });
    EXPECT_EQ(words_of(svg), (Words{"Play"}));
    const auto paths = drawn_elements(svg, "path");
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(paths[0].at("fill"), "#302010");
    const std::string data = paths[0].at("d");
    EXPECT_EQ(data.front(), 'M');
    EXPECT_EQ(data.back(), 'Z');
    float x = 0, y = 0;
    ASSERT_EQ(std::sscanf(data.c_str(), "M%f %f", &x, &y), 2);
    EXPECT_GT(x, 20);
    EXPECT_LT(x, 44);
    EXPECT_GT(y, 30);
    EXPECT_LT(y, 54);
    EXPECT_EQ(svg.find("<image"), std::string::npos);
}

}  // namespace
}  // namespace aft::viz
