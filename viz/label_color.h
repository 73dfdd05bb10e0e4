// The colour of words that stand beside a line, a map or a mark of theirs. Pure; any thread.
#pragma once
#include "viz/theme.h"

namespace aft::viz {

constexpr double kLeastContrast = 4.5;  // WCAG 2, AA, of text

// `color`, blended toward the theme's text until it contrasts with `ground` by kLeastContrast.
[[nodiscard]] ImU32 label_color(const Theme& theme, ImU32 color, ImU32 ground);
[[nodiscard]] inline ImU32 label_color(const Theme& theme, ImU32 color) {  // on a pane
    return label_color(theme, color, theme.pane);
}

}  // namespace aft::viz
