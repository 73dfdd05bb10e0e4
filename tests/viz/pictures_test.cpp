// Stored pictures (tests/viz/pictures) against what is drawn now, through EGL without a display:
// at most 0.1 % of the pixels may differ by more than 2 of 255 in a channel. Written anew, to be
// looked at and committed, by AFTERIMAGE_WRITE_PICTURES=1 viz_tests --gtest_filter='Pictures*'
// Dear ImGui's built-in font: the pictures do not depend on the fonts of a machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "core/environment.h"
#include "tests/source_file.h"
#include "tests/viz/scenes.h"
#include "viz/color_bar.h"
#include "viz/image_grid.h"

namespace aft::viz {
namespace {

constexpr double kAllowed = 0.001;

Image corner(const Image& whole, int64_t width, int64_t height) {
    Image out{width, height, 3, {}};
    for (int64_t y = 0; y < height; ++y) {
        const auto row = whole.pixels.begin() + y * whole.width * 3;
        out.pixels.insert(out.pixels.end(), row, row + width * 3);
    }
    return out;
}

// Share of the pixels that differ by more than 2 in a channel; 1 if the sizes differ.
double difference(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height || a.channels != b.channels) return 1;
    int64_t different = 0;
    const auto channels = size_t(a.channels);
    for (size_t i = 0; i < a.pixels.size(); i += channels) {
        bool far = false;
        for (size_t c = i; c < i + channels; ++c)
            far = far || std::abs(int(a.pixels[c]) - int(b.pixels[c])) > 2;
        different += far;
    }
    return double(different) / double(a.width * a.height);
}

struct Painted {
    Stage stage;
    AtlasScene atlas;
    CurveScene curves{2000};
    Map map;
    TokenTexture texture;
    explicit Painted(ThemeName theme) : stage(Stage::With::opengl, theme) {}

    Image shoot(ImVec2 size, const std::function<void()>& draw) {
        for (int i = 0; i < 3; ++i) stage.frame(draw);
        return corner(stage.picture(), int64_t(size.x), int64_t(size.y));
    }
    Image atlas_picture() {
        stage.mouse = {200, 150};
        return shoot({480, 360}, [&] { atlas.draw(stage.look, {480, 360}); });
    }
    Image curves_picture() {
        stage.mouse = {-10, -10};
        return shoot({480, 240}, [&] { curves.draw(stage.look, {480, 240}, true); });
    }
    // One map with numbers, NaN, infinity and hidden cells, and its colour bar.
    Image map_picture(double high) {
        stage.mouse = {-10, -10};
        std::vector<float> values = window_maps(6)[5];
        values[0] = std::numeric_limits<float>::quiet_NaN();
        values[1] = std::numeric_limits<float>::infinity();
        std::vector<uint8_t> hidden(values.size(), 0);
        std::fill(hidden.begin() + 6, hidden.begin() + 11, 1);  // row 0, columns 6 to 10
        MapView view;
        view.data = {.values = values, .rows = 11, .columns = 11, .hidden = hidden, .version = 1};
        view.coloring = {{-1, high}, Scale::signed_log, stage.look.theme.diverging};
        view.area = {520, 520};
        view.is_signed = true;
        view.row_label = view.column_label = [](int64_t i) { return std::to_string(i - 5); };
        view.target = {4, 5};
        view.source = {2, 8};
        const auto bars = histogram(values, view.coloring.range, Scale::signed_log, 60);
        return shoot({520, 590}, [&] {
            (void)map.draw(view, stage.look);
            ImGui::SetCursorScreenPos({40, 525});
            (void)draw_color_bar({.coloring = view.coloring,
                                  .width = 460,
                                  .histogram = bars,
                                  .histogram_height = 12,
                                  .clipped = {.below = 0.002, .above = 0.031},
                                  .marker = 1.0,
                                  .low_locked = true,
                                  .low_note = "floor"},
                                 stage.look);
        });
    }
    Image image_picture() {
        stage.mouse = {-10, -10};
        std::vector<uint8_t> tokens(64);
        for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = uint8_t(i * 4);
        return shoot({240, 240}, [&] {
            texture.set(TokenImage{.tokens = tokens, .height = 8, .width = 8, .known = 40},
                        stage.look);
            (void)draw_image({.height = 8, .width = 8, .area = {240, 240}}, texture, stage.look);
        });
    }
};

void compare(const std::string& name, const Image& picture) {
    const std::filesystem::path file = source_file("tests/viz/pictures") / (name + ".png");
    if (!variable("AFTERIMAGE_WRITE_PICTURES").empty()) {
        write_png(file, picture);
        return;
    }
    const double share = difference(read_image(file), picture);
    EXPECT_LE(share, kAllowed) << file << ": " << share * 100 << " % of the pixels differ";
}

class Pictures : public testing::TestWithParam<ThemeName> {
  protected:
    void SetUp() override {
        if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    }
    static std::string named(const char* what) {
        return std::string(what) + (GetParam() == ThemeName::dark ? "-dark" : "-light");
    }
};

TEST_P(Pictures, AreAsStored) {
    Painted painted(GetParam());
    compare(named("atlas"), painted.atlas_picture());
    compare(named("curves"), painted.curves_picture());
    compare(named("map"), painted.map_picture(5.47));
    compare(named("image"), painted.image_picture());
}

// The comparison must notice what a reader would: another range, one changed pixel row.
TEST_P(Pictures, AnotherRangeIsNoticed) {
    Painted painted(GetParam());
    const Image picture = painted.map_picture(5.47);
    EXPECT_EQ(difference(picture, painted.map_picture(5.47)), 0);
    EXPECT_GT(difference(picture, painted.map_picture(4.5)), kAllowed);
    Image shifted = picture;
    std::rotate(shifted.pixels.begin(), shifted.pixels.begin() + 3, shifted.pixels.end());
    EXPECT_GT(difference(picture, shifted), kAllowed);
}

INSTANTIATE_TEST_SUITE_P(Themes, Pictures, testing::Values(ThemeName::dark, ThemeName::light),
                         [](const auto& theme) {
                             return theme.param == ThemeName::dark ? "dark" : "light";
                         });

}  // namespace
}  // namespace aft::viz
