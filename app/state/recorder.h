// Recorder: what every widget of the last frame was: kind, label `Pane/Section/Name`, rectangle,
// value, enabled. Widgets write it, scripts, tests, the tutorial and AFTERIMAGE_DUMP read it.
// Window thread.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aft::app {

struct WidgetRecord {
    std::string
        kind;  // button, switch, segment, field, slider, combo, text, row, tab, map, label, ...
    std::string label;  // unique in the frame: a second one with the same label gets "#2"
    ImVec2 min, max;    // pixels of the display
    std::string value;
    std::string why_not;         // "" = enabled
    bool visible = true;         // false: scrolled out of its pane
    ImGuiID id = 0, window = 0;  // of the item (0: a rectangle of its own) and of its window
    std::string action{};        // id of the action that it runs; "" = none
};

// A script's "set LABEL VALUE": given to the widget with this label when it is drawn next.
class ScriptedValue {
  public:
    void request(std::string label, std::string value);
    [[nodiscard]] std::optional<std::string> take(std::string_view label);
    [[nodiscard]] bool is_pending() const { return label_.has_value(); }
    void refuse(std::string why) { refusal_ = std::move(why); }  // the widget could not take it
    [[nodiscard]] std::string take_refusal() { return std::exchange(refusal_, {}); }

  private:
    std::optional<std::string> label_;
    std::string value_, refusal_;
};

class Recorder {
  public:
    void begin_frame();
    void end_frame();  // `last()` becomes this frame's

    // Path of labels: the frame pushes the pane, section heads set the section until the next one.
    void set_pane(std::string name);
    void set_section(std::string name);

    // The unique label that a widget of this name gets now; also good as its ImGui id.
    [[nodiscard]] std::string claim(std::string_view name);
    // Records the last ImGui item, or a rectangle of its own, under a claimed label.
    void item(std::string kind, std::string label, std::string value = {},
              std::string why_not = {});
    void area(WidgetRecord record);
    void runs_action(std::string id);  // the widget recorded last does

    [[nodiscard]] const std::vector<WidgetRecord>& last() const { return last_; }
    // In last(): by the full label, its end, or the id of the action that it runs.
    [[nodiscard]] const WidgetRecord* find(std::string_view label) const;

    ScriptedValue scripted;
    std::string scroll_to;  // label that should be scrolled into view when drawn

  private:
    std::string pane_, section_;
    std::vector<WidgetRecord> current_, last_;
    std::unordered_map<std::string, int> seen_;
};

// What AFTERIMAGE_DUMP writes: "frame<TAB>N<TAB>workspace", then one widget a line.
[[nodiscard]] std::string dump_text(const Recorder& recorder, uint64_t frame,
                                    std::string_view workspace, float pixels_per_unit);

}  // namespace aft::app
