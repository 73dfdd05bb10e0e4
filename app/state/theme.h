// Theme: the colour tokens of the window in three themes, the interface scale, and the values that
// Dear ImGui and ImPlot get from them. Used by every panel through Ui::theme. Window thread. Never
// changes a colour map's meaning.
#pragma once
#include <imgui.h>

#include <array>
#include <string>

#include "core/colormap.h"
#include "viz/theme_colors.h"

namespace aft::app {

using viz::ThemeName;
[[nodiscard]] const char* theme_word(ThemeName name);  // "dark", "light", "high-contrast"

struct Theme {
    ThemeName name = ThemeName::dark;
    ImU32 gap = 0, bar = 0, pane = 0, raised = 0;         // lines between panes; grounds
    ImU32 field = 0, field_hover = 0, field_pressed = 0;  // inputs, normal buttons
    ImU32 line = 0, strong = 0;                           // hairlines; popup borders
    ImU32 text1 = 0, text2 = 0, text3 = 0;                // values; labels; hints, units, axes
    ImU32 accent = 0, selected = 0;  // "now": ring, handle, tab mark; row ground
    ImU32 fill = 0, fill_hover = 0, fill_pressed = 0,
          ink = 0;                      // primary button, switch on; text on it
    ImU32 ok = 0, warn = 0, error = 0;  // states, never without icon and word
    ImU32 hatch_ground = 0, hatch_line = 0, nan = 0, knob = 0, track = 0;
    std::array<ImU32, 8> series{};  // runs and lines, in this order
    float scale = 1;                // interface scale

    [[nodiscard]] float px(float value) const;  // whole pixels at the interface scale
    [[nodiscard]] bool is_outlined() const { return name == ThemeName::high_contrast; }
    // Ground of fields and chosen tabs on bars, which in the light theme are as dark as a field.
    [[nodiscard]] ImU32 field_on_bar() const { return name == ThemeName::light ? pane : field; }
    [[nodiscard]] Colormap ember() const {
        return name == ThemeName::light ? Colormap::ember_light : Colormap::ember_dark;
    }
};

[[nodiscard]] Theme make_theme(ThemeName name, float scale);
// Sets all of ImGui's and ImPlot's style. Before NewFrame.
void apply_theme(const Theme& theme);

[[nodiscard]] ImU32 with_alpha(ImU32 color, float alpha);  // alpha in [0, 1]
[[nodiscard]] ImU32 mix(ImU32 ground, ImU32 color,
                        float share);  // opaque: share of color over ground
[[nodiscard]] ImVec4 to_vec4(ImU32 color);

}  // namespace aft::app
