// Fonts: Inter for text, JetBrains Mono for code, Material icons merged into every face; found on a
// list of system paths, then DejaVu, then ImGui's built-in font. Digits are tabular in all faces.
// Window thread.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "viz/look.h"

namespace aft::app {

using viz::Face;
using viz::Fonts;

// Sizes of text and icons, unscaled: what PushFont takes.
namespace text_size {
inline constexpr float key = 34, title = 27, read_out = 21, empty = 18, body = 16, label = 15,
                       hint = 14;
inline constexpr float icon_bar = 20, icon = 18, icon_inline = 15;
}  // namespace text_size

// `missing`: what was not found, in words; for the log.
[[nodiscard]] Fonts load_fonts(ImFontAtlas& atlas, std::vector<std::string>& missing);

// Pushes a face and size for the life of this object (also when a panel throws).
class FontScope {
  public:
    FontScope(const Fonts& fonts, Face face, float size);
    ~FontScope();
    FontScope(const FontScope&) = delete;
    FontScope& operator=(const FontScope&) = delete;

  private:
    int depth_;  // of ImGui's font stack before the push: error recovery may have popped it already
};

}  // namespace aft::app
