// The colour tokens of the window as plain numbers (0xRRGGBB), for the dark, light and high
// contrast themes. Constant data: any thread. No Dear ImGui type here.
#pragma once
#include <array>
#include <cstdint>

#include "core/colormap.h"

namespace aft::viz {

enum class ThemeName { dark, light, high_contrast };

struct ThemeColors {
    uint32_t gap, bar, pane, raised;
    uint32_t field, hover, pressed;  // inputs and normal buttons; slider track = pressed
    uint32_t line, strong;           // hairlines; popup border, idle tab mark
    uint32_t text1, text2, text3;
    uint32_t accent, selected;  // ring, handle, mark; background of a selected row
    uint32_t fill, fill_hover, fill_pressed, on_fill;  // primary button, and text on it
    uint32_t ok, warn, error;
    uint32_t hatch_ground, hatch_line;
    uint32_t nan;                      // NaN and infinite cells
    std::array<uint32_t, 8> series;    // in this order
    Colormap diverging;                // ember with the centre that fits the theme
    bool is_light, draws_outlines;     // high contrast draws 1 px lines round fields
    uint32_t switch_off, switch_knob;  // track and knob of a switch that is off
};

[[nodiscard]] const ThemeColors& theme_colors(ThemeName name);

[[nodiscard]] double contrast_ratio(uint32_t a, uint32_t b);  // WCAG 2: 1 .. 21
// Ink on a data colour: 0B0C0E or F2F4F6, whichever contrasts more.
[[nodiscard]] uint32_t ink_on(uint32_t ground);
// A step of viridis for ordered things (layers, heads, steps), 0 .. 1; keeps off the end that the
// ground hides.
[[nodiscard]] uint32_t ordered_color(double share, bool on_light = false);

}  // namespace aft::viz
