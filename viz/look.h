// Look: what every drawing function needs to know about the look: theme, scale, fonts, and the
// painter of maps (nullptr without OpenGL: pictures are then left out, hit tests still work).
// Window thread.
#pragma once
#include <imgui.h>

#include <cmath>

#include "viz/theme.h"

namespace aft::viz {

class MapPainter;
class NumberSink;

enum class Face { regular, medium, semibold, mono };

struct Fonts {
    ImFont *regular = nullptr, *medium = nullptr, *semibold = nullptr, *mono = nullptr;
    [[nodiscard]] ImFont* face(Face which) const;  // nullptr stands for the current font
};

struct Look {
    Theme theme = theme_of(ThemeName::dark);
    float scale = 1;  // interface scale; sizes are multiplied by it
    Fonts fonts{};
    MapPainter* painter = nullptr;
    NumberSink* numbers = nullptr;  // in a frame whose numbers are saved

    [[nodiscard]] float px(float size) const {  // whole pixels
        return std::round(size * scale);
    }
};

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
// Masked: the same on a brighter ground, which a single pixel beside the colour of 0 shows.
void draw_mask_hatch(const Look& look, const Box& box);
[[nodiscard]] ImU32 mask_ground(const Theme& theme);
// A ring just outside `box` with a dark rim on both sides, so that it shows on any colour.
void draw_ring(const Look& look, const Box& box, ImU32 color, float width);
// The same without the inner rim: all of `box` stays free.
void draw_open_ring(const Look& look, const Box& box, ImU32 color, float width);
// A ring round a cell. Round a tiny one it stands further out and is open: three pixels within it
// stay free, and one of width 1 fits within a wider one.
void draw_cell_ring(const Look& look, const Box& cell, ImU32 color, float width);
// Of a source, thin and white, and of a target (nullptr = none), so that both are seen where they
// are one cell.
void draw_cell_rings(const Look& look, const Box* source, const Box* target);
// Of less than 6 px.
[[nodiscard]] bool is_tiny_cell(const Look& look, float side);
// Pixels beyond a cell that its rings take; without a side: of any cell.
[[nodiscard]] float ring_reach(const Look& look, float side = 0);
// A filled cell of the NaN colour with a cross, or an infinity sign, from 8 px up.
void draw_not_finite(const Look& look, const Box& box, float value);

}  // namespace aft::viz
