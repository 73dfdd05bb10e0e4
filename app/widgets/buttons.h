// Buttons: what is pressed: buttons, segmented choices, switches and regions. All widgets are
// recorded under `Pane/Section/Name`. All sizes at scale 1; width 0 = as wide as needed (buttons,
// segments) or the rest of the line (fields, combo); width -1 = the other of the two. A non-empty
// `why_not` greys the control and becomes its tooltip. They return true when the user changed or
// pressed it. Window thread, inside a frame.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/state/ui.h"

namespace aft::app {

enum class ButtonKind { primary, normal, ghost, icon, danger };

struct Button {
    WidgetName name;  // shown (except kind icon) and recorded
    const char* icon = "";
    ButtonKind kind = ButtonKind::normal;
    std::string why_not{}, tip{}, shortcut{};
    float width = 0, height = 26;
    bool selected = false;  // kind icon: a tool that is on
    std::string shown{};    // text on the button when it differs from the recorded name
};
bool button(DrawContext& ui, const Button& spec);
[[nodiscard]] float button_width(const DrawContext& ui, const Button& spec);  // pixels
// A button for an action by its id: icon, shortcut, sentence and why-not come from the registry;
// runs it when pressed.
bool action_button(Ui& ui, std::string_view action, ButtonKind kind = ButtonKind::normal,
                   std::string shown = {});

[[nodiscard]] float action_button_width(const Ui& ui, std::string_view action,
                                        ButtonKind kind = ButtonKind::normal);

struct Choice {
    WidgetName text;
    std::string why_not{}, tip{}, formula{};
};
// 2 to 4 exclusive choices. Value: the words of the chosen one; a script gives them or the id.
struct Choices {
    std::span<const Choice> list;
    float width = 0;
    std::string tip{};  // of the choices that have none of their own
};
bool segmented(DrawContext& ui, const WidgetName& name, int& chosen, const Choices& choices);
struct ToggleLook {
    std::string_view words{};  // stand right of it in text 2
    std::string why_not{}, tip{};
};
// On/off that acts at once.
bool toggle(DrawContext& ui, const WidgetName& name, bool& on, const ToggleLook& look = {});

// A region that takes clicks and hover, drawn by the caller (maps, pictures, tracks). kind "map",
// "picture", ...
struct Region {
    bool hovered = false, pressed = false, held = false, released = false, double_clicked = false;
    ImVec2 min, max, mouse;  // mouse relative to min, pixels
};
struct RegionLook {
    ImVec2 size;  // pixels
    std::string value{};
};
Region region(DrawContext& ui, std::string_view kind, const WidgetName& name,
              const RegionLook& look);

}  // namespace aft::app
