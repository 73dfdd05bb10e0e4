// Text at a place of the window: the one set of functions of viz/ and app/. They do not move the
// cursor. Window thread, inside a window of Dear ImGui.
#pragma once
#include <string_view>

#include "viz/look.h"

namespace aft::viz {

enum class Align { left, centre, right };

struct TextStyle {
    float size = 16;  // at scale 1
    ImU32 color = 0;
    Face face = Face::regular;
    float max_width = 0;  // pixels; > 0 cuts with an ellipsis
    Align align = Align::left;
};

// In whole pixels, so that what follows stands on one.
[[nodiscard]] ImVec2 text_extent(const Look& look, std::string_view words, float size,
                                 Face face = Face::regular);
[[nodiscard]] ImVec2 text_extent(const Look& look, std::string_view words, const TextStyle& style);
// `at`: top of the line; its left end, middle or right end by `align`. On whole pixels: glyphs stay
// crisp. Returns the width that was drawn.
float text_at(const Look& look, ImVec2 at, std::string_view words, const TextStyle& style);
// `at`: the right end.
void text_right(const Look& look, ImVec2 at, std::string_view words, const TextStyle& style);
// An icon of the regular face, its own middle at `center`.
void icon_at(const Look& look, ImVec2 center, const char* icon, const TextStyle& style);

}  // namespace aft::viz
