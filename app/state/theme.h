// The theme in Dear ImGui's and ImPlot's own styles. The colours themselves are viz/theme.h. Window
// thread. Never changes a colour map's meaning.
#pragma once
#include <imgui.h>

#include "viz/theme.h"

namespace aft::app {

using viz::mix;
using viz::Theme;
using viz::ThemeName;
using viz::to_vec4;
using viz::with_alpha;

[[nodiscard]] const char* theme_word(ThemeName name);  // "dark", "light", "high-contrast"

// Sets all of ImGui's and ImPlot's style. Before NewFrame.
void apply_theme(const Theme& theme, float scale);

}  // namespace aft::app
