// The theme of the window: its colours, as Dear ImGui packs them, for the dark, light and high
// contrast themes. The one theme of viz/ and app/. Constant data and pure functions: any thread.
#pragma once
#include <imgui.h>

#include <array>

#include "core/images/colormap.h"

namespace aft::viz {

enum class ThemeName { dark, light, high_contrast };

struct Theme {
    ThemeName name = ThemeName::dark;
    ImU32 gap = 0, bar = 0, pane = 0, raised = 0;         // lines between panes; grounds
    ImU32 field = 0, field_hover = 0, field_pressed = 0;  // inputs, normal buttons
    ImU32 line = 0, strong = 0;                           // hairlines; popup borders
    ImU32 text1 = 0, text2 = 0, text3 = 0;                // values; labels; hints, units, axes
    ImU32 accent = 0, selected = 0;                       // "now": ring, handle, mark; row ground
    ImU32 fill = 0, fill_hover = 0, fill_pressed = 0;     // primary button, switch that is on
    ImU32 ink = 0;                                        // text on it
    ImU32 ok = 0, warn = 0, error = 0;                    // states, never without icon and word
    ImU32 hatch_ground = 0, hatch_line = 0;
    ImU32 nan = 0;                  // NaN and infinite cells
    std::array<ImU32, 8> series{};  // runs and lines, in this order
    Colormap diverging{};           // ember with the centre that fits the theme
    ImU32 track = 0, knob = 0;      // of a switch that is off

    [[nodiscard]] bool is_outlined() const { return name == ThemeName::high_contrast; }
    // Ground of fields and chosen tabs on bars, which in the light theme are as dark as a field.
    [[nodiscard]] ImU32 field_on_bar() const { return name == ThemeName::light ? pane : field; }
};

[[nodiscard]] const Theme& theme_of(ThemeName name);

[[nodiscard]] constexpr ImU32 rgb(uint32_t hex) {  // 0xRRGGBB, opaque
    return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255);
}
[[nodiscard]] ImU32 with_alpha(ImU32 color, float alpha);  // alpha in [0, 1]
// Opaque: a share of `color` over `ground`.
[[nodiscard]] ImU32 mix(ImU32 ground, ImU32 color, float share);
[[nodiscard]] ImVec4 to_vec4(ImU32 color);

[[nodiscard]] double contrast_ratio(ImU32 a, ImU32 b);  // WCAG 2: 1 .. 21
// Text on a data colour: 0B0C0E or F2F4F6, whichever contrasts more.
[[nodiscard]] ImU32 ink_on(ImU32 ground);
// A step of viridis for ordered things (layers, heads, steps), 0 .. 1; keeps off the end that the
// ground hides.
[[nodiscard]] ImU32 ordered_color(double share, bool on_light = false);

}  // namespace aft::viz
