// Frames that draw only what differs: the same pixels as whole frames, and few of them.
#include <gtest/gtest.h>

#include "tests/viz/scenes.h"
#include "viz/canvas.h"
#include "viz/image_grid.h"

namespace aft::viz {
namespace {

double area(const std::vector<Box>& boxes) {
    double sum = 0;
    for (const Box& box : boxes) sum += double(box.width()) * double(box.height());
    return sum;
}

bool covers(const std::vector<Box>& boxes, ImVec2 at) {
    return std::any_of(boxes.begin(), boxes.end(),
                       [&](const Box& box) { return box.contains(at); });
}

struct Drawn {  // each frame twice: whole by the stage, and what differs by the canvas
    Stage stage{Stage::With::opengl};
    Canvas canvas;
    double whole = double(stage.size.x) * double(stage.size.y);
    bool is_new = false;

    void frame(const std::function<void()>& draw) {
        stage.frame(draw);
        is_new = canvas.draw(*ImGui::GetDrawData(), stage.look.painter->take_repainted());
        EXPECT_EQ(stage.picture().pixels, canvas.picture().read(true).pixels);
    }
    [[nodiscard]] double share() const { return area(canvas.damage().boxes()) / whole; }
};

TEST(Canvas, APointerThatMovesOverAnAtlasDrawsTheSameWithFewPixels) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Drawn drawn;
    AtlasScene atlas;
    const auto draw = [&] {
        atlas.draw(drawn.stage.look, {480, 360});
        ImGui::SetCursorScreenPos({500, 400});
        ImGui::Text("%g %g", double(drawn.stage.mouse.x), double(drawn.stage.mouse.y));
    };
    drawn.stage.mouse = {200, 150};
    drawn.frame(draw);
    EXPECT_DOUBLE_EQ(drawn.share(), 1);
    for (int i = 0; i < 4; ++i) drawn.frame(draw);
    EXPECT_FALSE(drawn.is_new);
    for (int i = 1; i < 60; ++i) {
        drawn.stage.mouse = {200 + 4.7F * float(i), 150 + 3.1F * float(i)};
        drawn.frame(draw);
        EXPECT_TRUE(drawn.is_new);
        EXPECT_LT(drawn.share(), 0.25);
    }
}

TEST(Canvas, CurvesThatGrowAndPopupsThatComeAndGo) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Drawn drawn;
    for (int i = 0; i < 30; ++i) {
        CurveScene curves(500 + 10 * i);
        drawn.frame([&] {
            curves.draw(drawn.stage.look, {480, 360}, i >= 15);
            if (i % 7 > 3) ImGui::SetTooltip("step %d", i);
        });
    }
}

TEST(Canvas, ManyNumbersThatChangeAtOnceAreFewCoarserBoxes) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Drawn drawn;
    const auto numbers = [&](int step) {
        return [&drawn, step] {
            for (int i = 0; i < 40; ++i) {
                const int column = i % 4, row = i / 4;
                ImGui::SetCursorScreenPos({float(20 + 150 * column), float(10 + 24 * row)});
                ImGui::Text("%d", (step + i) % 10);
            }
        };
    };
    for (int step = 0; step < 12; ++step)
        drawn.frame(numbers(step));  // by then all digits are known
    drawn.frame(numbers(3));
    EXPECT_TRUE(drawn.is_new);
    EXPECT_GT(drawn.canvas.damage().boxes().size(), 1U);
    EXPECT_LE(drawn.canvas.damage().boxes().size(), 24U);
    EXPECT_LT(drawn.share(), 0.6);
}

TEST(Canvas, ATextureWithOtherPixelsIsDrawnAgain) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Drawn drawn;
    TokenTexture texture;
    Image image{8, 8, 3, std::vector<uint8_t>(192, 20)};
    const auto draw = [&] {
        texture.set(image, drawn.stage.look);
        ImGui::SetCursorScreenPos({200, 300});
        ImGui::Image(texture.id(), {80, 80});
    };
    for (int i = 0; i < 4; ++i) drawn.frame(draw);
    image.pixels[3] = 200;
    drawn.frame(draw);
    EXPECT_TRUE(drawn.is_new);
    EXPECT_LT(drawn.share(), 0.1);
    EXPECT_TRUE(covers(drawn.canvas.damage().boxes(), {215, 305}));
    drawn.frame(draw);
    EXPECT_FALSE(drawn.is_new) << "its pixels are the same again";
}

TEST(Canvas, ClipsAtFractionsOfAPixelLeaveNoSeams) {
    if (!why_no_opengl().empty()) GTEST_SKIP() << why_no_opengl();
    Drawn drawn;
    for (int i = 0; i < 24; ++i)
        drawn.frame([&] {
            ImDrawList* const list = ImGui::GetWindowDrawList();
            list->PushClipRect({10.6F, 50.3F}, {300.2F, 200.7F});
            list->AddRectFilled({0, 0}, {400, 400}, 0xFF305070);
            list->AddRectFilled({20.0F + 9 * float(i), 60.0F + 5 * float(i)},
                                {26.0F + 9 * float(i), 66.0F + 5 * float(i)}, 0xFFFFFFFF);
            list->PopClipRect();
        });
}

TEST(Damage, AnotherOrderOfTheSameTrianglesIsADifference) {
    Stage stage(Stage::With::no_opengl);
    Damage damage;
    bool red_first = true;
    const auto frame = [&] {
        stage.frame([&] {
            ImDrawList* const list = ImGui::GetWindowDrawList();
            for (const bool red : {red_first, !red_first})
                list->AddRectFilled({100, 100}, {red ? 140.0F : 160.0F, 140},
                                    red ? 0xFF0000FF : 0xFF00FF00);
        });
        damage.update(*ImGui::GetDrawData(), {});
    };
    for (int i = 0; i < 3; ++i) frame();
    EXPECT_TRUE(damage.boxes().empty());
    red_first = false;
    frame();
    EXPECT_TRUE(covers(damage.boxes(), {120, 120}));
    damage.forget();
    frame();
    EXPECT_DOUBLE_EQ(area(damage.boxes()), double(stage.size.x) * double(stage.size.y));
}

TEST(Damage, WhatMovedIsDrawnAgainWhereItWasAndWhereItIs) {
    Stage stage(Stage::With::no_opengl);
    Damage damage;
    float x = 100;
    const auto frame = [&] {
        stage.frame([&] {
            ImGui::GetWindowDrawList()->AddRectFilled({x, 100}, {x + 10, 110}, 0xFF0000FF);
        });
        damage.update(*ImGui::GetDrawData(), {});
    };
    for (int i = 0; i < 3; ++i) frame();
    x = 500;
    frame();
    EXPECT_TRUE(covers(damage.boxes(), {105, 105}));
    EXPECT_TRUE(covers(damage.boxes(), {505, 105}));
    EXPECT_FALSE(covers(damage.boxes(), {300, 105}));
    EXPECT_FALSE(covers(damage.boxes(), {105, 300}));
}

}  // namespace
}  // namespace aft::viz
