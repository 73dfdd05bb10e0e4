// Text fields, and the bare text input that they and the palette are made of. Conventions:
// buttons.h. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/state/draw_context.h"

namespace aft::app {

struct TextField {
    WidgetName name;
    std::string hint{};
    const char* icon = "";  // at the left, inside
    float width = 0, height = 26;
    bool focus = false;  // take the keyboard now
    std::string why_not{};
    bool mono = false;
    std::string problem{};  // what is wrong with the text: an error outline
    std::string tip{};
};
struct TextEdit {
    bool is_changed = false, is_submitted = false;  // submitted: by Enter
    explicit operator bool() const { return is_changed; }
};
TextEdit text_field(DrawContext& ui, const TextField& spec, std::string& text);

// ImGui's text input over a std::string in the theme's look. For widgets and the palette only.
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
