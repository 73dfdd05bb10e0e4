// Widgets: the controls of the window, each recorded under `Pane/Section/Name`. Names are given as
// "Shown words##id" (app/state/widget_name.h). All sizes at scale 1; width 0 = as wide as needed
// (buttons, segments) or the rest of the line (fields, combo); width -1 = the other of the two. A
// non-empty `why_not` greys the control and becomes its tooltip. Return true when the user changed
// or pressed it. Window thread, inside a frame.
#pragma once
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "app/state/ui.h"
#include "core/check.h"
#include "core/settings.h"

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
    std::string why_not{}, tip{};
};
// 2 to 4 exclusive choices. Value: the words of the chosen one; a script gives them or the id.
struct Choices {
    std::span<const Choice> list;
    float width = 0;
};
bool segmented(DrawContext& ui, const WidgetName& name, int& chosen, const Choices& choices);
struct ComboChoices {
    std::span<const std::string> list;  // "Shown words##id", as names are
    float width = 0;
    std::string why_not{};
    ImU32 ground = 0;  // 0 = the field colour
};
bool combo(DrawContext& ui, const WidgetName& name, int& chosen, const ComboChoices& choices);
struct ToggleLook {
    std::string_view words{};  // stand right of it in text 2
    std::string why_not{};
};
// On/off that acts at once.
bool toggle(DrawContext& ui, const WidgetName& name, bool& on, const ToggleLook& look = {});

struct NumberField {
    WidgetName name;
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    double standard =
        std::numeric_limits<double>::quiet_NaN();  // differs from it: accent bar; slider tick
    bool integer = false, logarithmic = false;
    int decimals = -1;     // -1: as many as needed
    std::string unit{};    // in text 3 behind the value
    std::string prefix{};  // name inside, left ("low")
    std::string why_not{}, tip{};
    bool locked = false;  // lock icon, fixed value
    float width = 0;
    float drag_speed = 0;     // value per pixel; 0 = from the range
    bool on_release = false;  // report a drag once, at its end (settings of a running training)
};
bool drag_field(DrawContext& ui, const NumberField& spec, double& value);
bool drag_field(DrawContext& ui, const NumberField& spec, int64_t& value);
// Slider and its field, side by side.
bool slider(DrawContext& ui, const NumberField& spec, double& value);
bool slider(DrawContext& ui, const NumberField& spec, int64_t& value);

struct TextField {
    WidgetName name;
    std::string hint{};
    const char* icon = "";  // at the left, inside
    float width = 0, height = 26;
    bool focus = false;  // take the keyboard now
    std::string why_not{};
    bool mono = false;
    std::string problem{};  // what is wrong with the text: an error outline
};
bool text_field(DrawContext& ui, const TextField& spec, std::string& text);  // true at every change
bool text_submitted(const DrawContext& ui);  // Enter in the last text_field

// The control for one visit() row: drag field, drop-down, switch or text. `standard` = text of the
// preset's value. Returns the new value as text, empty optional if unchanged.
std::optional<std::string> setting_field(DrawContext& ui, const Setting& row,
                                         const std::string& standard, std::string why_not = {});
// "train.bias_learning_rate" -> "Bias learning rate"; in a narrow column "Bias rate".
[[nodiscard]] std::string setting_label(std::string_view key, bool is_narrow = false);

// A popup with the right border and padding: `if (scope.is_open()) draw rows`. Open it with
// ImGui::OpenPopup(id).
class PopupScope {
  public:
    PopupScope(DrawContext& ui, const char* id);
    ~PopupScope();
    PopupScope(const PopupScope&) = delete;
    PopupScope& operator=(const PopupScope&) = delete;
    [[nodiscard]] bool is_open() const { return is_open_; }

  private:
    bool is_open_ = false;
};

// A full-width row that can be chosen (trees, lists, tables). Height at scale 1. The caller draws
// inside afterwards: the cursor stands at the row's top left, `row.min`, `row.max` are its corners.
struct Row {
    bool pressed = false, hovered = false, double_clicked = false;
    ImVec2 min, max;
};
struct RowLook {
    float height = 26;
    bool selected = false;
    std::string value{};  // recorded
};
Row row(DrawContext& ui, const WidgetName& name, const RowLook& look);
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
