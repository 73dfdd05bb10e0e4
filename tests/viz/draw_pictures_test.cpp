// Pictures in documents: cut to what is shown, hatches and tiles as patterns.
#include <gtest/gtest.h>

#include <cmath>

#include "core/images/codecs.h"
#include "tests/viz/svg_elements.h"

namespace aft::viz {
namespace {

const ImTextureID kTexture = 77;
constexpr ImU32 kHalf = 0x80FFFFFF;

std::string bytes_of_base64(const std::string& text) {
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned word = 0, bits = 0;
    for (const char c : text) {
        if (c == '=') break;
        word = word << 6U | unsigned(letters.find(c));
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += char(word >> bits & 0xFFU);
        }
    }
    return out;
}

Image picture_in(const SvgElement& image) {
    const std::string href = image.at("href"), head = "data:image/png;base64,";
    EXPECT_EQ(href.substr(0, head.size()), head);
    return decode_image(bytes_of_base64(href.substr(head.size())));
}

// Red is the column, green the row, times 10; blue 200.
Image numbered_texels(int64_t width, int64_t height) {
    Image out{width, height, 4, {}};
    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
            for (const int64_t v : {x * 10, y * 10, int64_t{200}, int64_t{255}})
                out.pixels.push_back(uint8_t(v));
    return out;
}

SvgShot with_texture(Image image) {
    return {.read_texture = [image = std::move(image)](ImTextureID id) {
        EXPECT_EQ(id, kTexture);
        return image;
    }};
}

TEST(DrawPictures, PicturesAreCutToTheirTextureCoordinates) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(
        stage,
        [](ImDrawList& list) {
            list.AddImage(kTexture, {100, 50}, {180, 90}, {0.25F, 0.5F}, {0.75F, 1});
            list.AddImage(kTexture, {200, 50}, {280, 90}, {0.75F, 1}, {0.25F, 0.5F}, 0x80FFFFFF);
        },
        with_texture(numbered_texels(8, 4)));
    const auto images = drawn_elements(svg, "image");
    ASSERT_EQ(images.size(), 2U);
    expect_box(place_of(images[0]), {{100, 50}, {180, 90}}, 0.01F);
    EXPECT_EQ(images[0].at("style"), "image-rendering:pixelated");
    const Image cut = picture_in(images[0]), turned = picture_in(images[1]);
    ASSERT_EQ(cut.width, 80) << "of 4 texels, as on the screen";
    ASSERT_EQ(cut.height, 40);
    ASSERT_EQ(cut.channels, 3);
    const auto colors = [](const Image& image, int64_t x, int64_t y) {
        const uint8_t* const p = &image.pixels[size_t((y * image.width + x) * 3)];
        return std::vector<int>{p[0], p[1], p[2]};
    };
    EXPECT_EQ(colors(cut, 0, 0), (std::vector{20, 20, 200}));
    EXPECT_EQ(colors(cut, 19, 19), (std::vector{20, 20, 200}));
    EXPECT_EQ(colors(cut, 20, 20), (std::vector{30, 30, 200}));
    EXPECT_EQ(colors(cut, 79, 39), (std::vector{50, 30, 200}));
    EXPECT_EQ(colors(turned, 0, 0), (std::vector{50, 30, 200}));
    EXPECT_EQ(colors(turned, 79, 39), (std::vector{20, 20, 200}));
    EXPECT_NEAR(images[1].number("opacity"), 128 / 255.0, 0.002);
    EXPECT_TRUE(images[0].clip.empty());
}

TEST(DrawPictures, APartOfATexelIsAWholeOneUnderAClip) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(
        stage,
        [](ImDrawList& list) {
            list.AddImage(kTexture, {100, 50}, {120, 60}, {0.0625F, 0}, {0.1875F, 1}, 0xFF00FFFF);
        },
        with_texture(numbered_texels(8, 1)));
    const auto images = drawn_elements(svg, "image");
    ASSERT_EQ(images.size(), 1U);
    expect_box(place_of(images[0]), {{90, 50}, {130, 60}}, 0.01F);
    EXPECT_FALSE(images[0].clip.empty());
    const Image cut = picture_in(images[0]);
    ASSERT_EQ(cut.width, 40);
    EXPECT_EQ(cut.pixels[19 * 3], 0);
    EXPECT_EQ(cut.pixels[20 * 3], 10);
    EXPECT_EQ(cut.pixels[20 * 3 + 2], 0) << "yellow takes the blue away";
}

TEST(DrawPictures, PartsOfTheAtlasThatAreNoLettersArePictures) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(stage, [](ImDrawList& list) {
        list.AddText({20, 20}, 0xFFFFFFFF, "letters");
        list.AddImage(ImGui::GetIO().Fonts->TexRef, {100, 50}, {612, 178});
    });
    EXPECT_EQ(drawn_elements(svg, "text").size(), 1U);
    const auto images = drawn_elements(svg, "image");
    ASSERT_EQ(images.size(), 1U);
    expect_box(place_of(images[0]), {{100, 50}, {612, 178}}, 0.01F);
    EXPECT_GE(picture_in(images[0]).width, ImGui::GetIO().Fonts->TexData->Width);
}

TEST(DrawPictures, HatchesArePatterns) {
    Stage stage(Stage::With::no_opengl);
    Image line{8, 1, 4, {}};
    for (int i = 0; i < 8; ++i)
        for (const int v : {i < 2 ? 250 : 10, 20, 30, 255}) line.pixels.push_back(uint8_t(v));
    const float pitch = 6 * std::sqrt(2.0F);
    const auto uv = [&](float x, float y) { return ImVec2{(x + y - 1) / pitch, 0.5F}; };
    const auto quad = [&](ImDrawList& list, float x) {
        list.AddImageQuad(kTexture, {x, 50}, {x + 40, 50}, {x + 40, 90}, {x, 90}, uv(x, 50),
                          uv(x + 40, 50), uv(x + 40, 90), uv(x, 90));
    };
    const std::string svg = svg_of(
        stage,
        [&](ImDrawList& list) {
            quad(list, 100);
            list.AddImage(kTexture, {200, 50}, {230, 60}, {0, 0}, {3, 1});
        },
        with_texture(line));
    std::vector<SvgElement> patterns;
    for (const SvgElement& e : svg_elements(svg))
        if (e.name == "pattern") patterns.push_back(e);
    ASSERT_EQ(patterns.size(), 2U);
    EXPECT_EQ(patterns[0].at("patternTransform"), "rotate(45) translate(-5.29 0)");
    EXPECT_NEAR(patterns[0].number("width"), 6, 1e-3);
    EXPECT_NEAR(patterns[1].number("width"), 10, 1e-3);
    const auto rects = drawn_rects(svg);
    ASSERT_EQ(rects.size(), 2U);
    expect_box(place_of(rects[0]), {{100, 50}, {140, 90}}, 0.01F);
    EXPECT_EQ(rects[0].at("fill"), "url(#" + patterns[0].at("id") + ")");
    EXPECT_EQ(rects[1].at("fill"), "url(#" + patterns[1].at("id") + ")");
    EXPECT_TRUE(drawn_elements(svg, "image").empty());
}

TEST(DrawPictures, TexturesThatRepeatBothWaysAreTiles) {
    Stage stage(Stage::With::no_opengl);
    const std::string svg = svg_of(
        stage,
        [](ImDrawList& list) {
            list.AddImage(kTexture, {100, 50}, {160, 90}, {0.5F, 0}, {3.5F, 2}, kHalf);
        },
        with_texture(numbered_texels(4, 4)));
    for (const SvgElement& e : svg_elements(svg)) {
        if (e.name == "pattern") {
            EXPECT_EQ(e.at("patternTransform"), "translate(90 50)");
            EXPECT_NEAR(e.number("width"), 20, 1e-3);
            EXPECT_NEAR(e.number("height"), 20, 1e-3);
        }
        if (e.name == "image") {
            EXPECT_EQ(picture_in(e).width, 4);
        }
    }
    EXPECT_NE(svg.find("<pattern "), std::string::npos);
    ASSERT_EQ(drawn_rects(svg).size(), 1U);
    EXPECT_NEAR(drawn_rects(svg)[0].number("opacity"), 128 / 255.0, 0.002);
}

}  // namespace
}  // namespace aft::viz
