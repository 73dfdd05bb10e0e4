// input_text: ImGui's text input over a std::string in the theme's look. For widgets only.
#pragma once
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct InputLook {
    float width = 0, height = 26;  // pixels; height at scale 1
    bool is_wrong = false;         // error outline
    bool is_plain = false;         // no ground (palette, fields with an icon draw their own)
    bool is_mono = false;
    bool is_set = false;  // `text` was changed from outside in this frame
    const char* hint = "";
};
// True when Enter was pressed.
bool input_text(DrawContext& ui, const char* id, std::string& text, const InputLook& look);

}  // namespace aft::app
