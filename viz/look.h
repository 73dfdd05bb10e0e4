// What every drawing function needs to know about the look: colours, scale, fonts, and the painter
// of maps (nullptr without OpenGL: pictures are then left out, hit tests still work). Window
// thread.
#pragma once
#include <imgui.h>

#include <string_view>

#include "viz/theme_colors.h"

namespace aft::viz {

class MapPainter;

struct Look {
    const ThemeColors* colors = &theme_colors(ThemeName::dark);
    float scale = 1;  // interface scale; sizes below are multiplied by it
    ImFont *regular = nullptr, *medium = nullptr, *semibold = nullptr,
           *mono = nullptr;  // nullptr: current font
    MapPainter* painter = nullptr;

    [[nodiscard]] float px(float size) const {
        return static_cast<float>(int(size * scale + 0.5F));
    }
};

[[nodiscard]] ImU32 ink(uint32_t rgb, float alpha = 1);

enum class Weight { regular, medium, semibold, mono };
enum class Align { left, centre, right };

struct TextStyle {
    uint32_t color = 0;
    float size = 15;  // at scale 1
    Weight weight = Weight::regular;
    Align align = Align::left;
    float alpha = 1;
};

[[nodiscard]] ImVec2 text_size(const Look& look, const TextStyle& style, std::string_view text);
// `at`: top of the line; its left end, middle or right end by `align`. Returns the width.
float draw_text(const Look& look, ImVec2 at, const TextStyle& style, std::string_view text);

struct Box {
    ImVec2 low, high;
    [[nodiscard]] float width() const { return high.x - low.x; }
    [[nodiscard]] float height() const { return high.y - low.y; }
    [[nodiscard]] bool contains(ImVec2 p) const {
        return p.x >= low.x && p.y >= low.y && p.x < high.x && p.y < high.y;
    }
    [[nodiscard]] bool operator==(const Box& o) const {
        return low.x == o.low.x && low.y == o.low.y && high.x == o.high.x && high.y == o.high.y;
    }
};

// Invisible, not yet trained or not yet sampled: ground and 45 degree lines, in the current window.
void draw_hatch(const Look& look, const Box& box);
// A ring just outside `box` with a dark rim on both sides, so that it shows on any colour.
void draw_ring(const Look& look, const Box& box, uint32_t color, float width);
// A filled cell of the NaN colour with a cross, or an infinity sign, from 8 px up.
void draw_not_finite(const Look& look, const Box& box, float value);
// An outlined empty cell: no data.
void draw_no_data(const Look& look, const Box& box);

}  // namespace aft::viz
