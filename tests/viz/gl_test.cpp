// With OpenGL without a display: the shader against the CPU's colours, textures, errors of shaders.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/check.h"
#include "core/files.h"
#include "core/rng.h"
#include "tests/viz/stage.h"
#include "viz/tiles.h"

namespace aft::viz {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Gl : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    }
};

std::vector<float> test_values(int count) {
    CounterRng rng(3, 4);
    std::vector<float> values(size_t(count), 0.0F);
    for (float& v : values) v = float(std::exp(2 * rng.normal()) * (rng.uniform() < 0.5 ? -1 : 1));
    values[0] = kNan;
    values[1] = std::numeric_limits<float>::infinity();
    values[2] = -values[1];
    values[3] = 0;
    values[4] = 1e-30F;
    values[5] = -1e30F;
    return values;
}

TEST_F(Gl, ShaderColoursEqualTheOnesOnTheCpu) {
    const Stage stage(Stage::With::opengl);
    constexpr int kSide = 32;
    const std::vector<float> values = test_values(kSide * kSide);
    gl::Texture texture = gl::Texture::floats(kSide, kSide);
    texture.upload({0, 0, kSide, kSide}, values);
    const gl::Framebuffer target(kSide, kSide);
    for (int map = 0; map < 5; ++map)
        for (int scale = 0; scale < 6; ++scale)
            for (const Range range : {Range{-1, 5.5}, Range{0.01, 3}, Range{-0.02, 0.02}}) {
                const Coloring k{range, Scale(scale), Colormap(map)};
                stage.look.painter->paint(texture, target, {0, 0, kSide, kSide},
                                          {k, rgb(0xFF2BD6)});
                const Image seen = target.read(false);
                const Image wanted = colorize({values, kSide, kSide}, k, 1);
                int worst = 0;
                for (size_t i = 0; i < seen.pixels.size(); ++i)
                    worst = std::max(worst, std::abs(int(seen.pixels[i]) - wanted.pixels[i]));
                EXPECT_LE(worst, 2) << "map " << map << " scale " << scale << " low " << range.low;
            }
}

TEST_F(Gl, TilesArePaintedOnlyWhenSomethingIsNew) {
    const Stage stage(Stage::With::opengl);
    Tiles tiles;
    tiles.resize(6, 4, 5);
    const std::vector<float> values(20, 0.5F);
    Coloring k{{0, 1}, Scale::linear, Colormap::grey};
    const MapData data{.values = values, .rows = 4, .columns = 5, .version = 1};
    for (int frame = 0; frame < 3; ++frame)
        for (int t = 0; t < 6; ++t) tiles.set(t, data, k, stage.look);
    EXPECT_EQ(tiles.painted(), 6);
    k.range.high = 2;
    tiles.set(3, data, k, stage.look);
    EXPECT_EQ(tiles.painted(), 7);
    const Box uv = tiles.uv(3, {{0, 0}, {5, 4}});
    EXPECT_GT(uv.high.x, uv.low.x);
    EXPECT_LE(uv.high.x, 1.0F);
    EXPECT_LE(uv.high.y, 1.0F);
}

TEST_F(Gl, ManyWideTilesStayInsideTheTextureLimit) {
    const Stage stage(Stage::With::opengl);
    Tiles tiles;
    tiles.resize(40, 8, 3072);
    const std::vector<float> values(8 * 3072, 1.0F);
    const MapData data{.values = values, .rows = 8, .columns = 3072, .version = 1};
    for (int t = 0; t < 40; ++t) tiles.set(t, data, {}, stage.look);
    EXPECT_NE(tiles.texture(), ImTextureID_Invalid);
}

TEST_F(Gl, ABrokenShaderNamesFileAndLine) {
    const Stage stage(Stage::With::opengl);
    const auto folder = std::filesystem::temp_directory_path() / "afterimage-shader-test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "good.vert")
        << "#version 330 core\nvoid main() { gl_Position = vec4(0); }\n";
    std::ofstream(folder / "bad.frag")
        << "#version 330 core\n#include \"part.glsl\"\nout vec4 c;\nvoid main() { c = vec4(0); }\n";
    std::ofstream(folder / "part.glsl") << "// fine\nfloat f() { return nothing; }\n";
    try {
        const gl::Program program(folder / "good.vert", folder / "bad.frag");
        FAIL() << "it compiled";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("part.glsl:2:"), std::string::npos)
            << error.what();
    }
    EXPECT_THROW(gl::Program(folder / "none.vert", folder / "bad.frag"), Error);
    std::filesystem::remove_all(folder);
}

TEST_F(Gl, VersionErrorSaysFoundAndNeeded) {
    try {
        gl::check_opengl_version(2, 1);
        FAIL();
    } catch (const Error& error) {
        const std::string words = error.what();
        EXPECT_NE(words.find("OpenGL too old (found 2.1, needed 3.3)"), std::string::npos);
        EXPECT_NE(words.find("driver"), std::string::npos);
    }
    EXPECT_THROW(gl::check_opengl_version(0, 0), Error);
    EXPECT_NO_THROW(gl::check_opengl_version(4, 6));
}

}  // namespace
}  // namespace aft::viz
