// Recorder: what every widget of the last frame was: kind, label `Pane/Section/Name`, rectangle,
// value, enabled. Widgets write it, scripts, tests, the tutorial and AFTERIMAGE_DUMP read it. It
// also carries "set LABEL VALUE" of scripts to the widget that has the label. Window thread.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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
};

class Recorder {
  public:
    void begin_frame();
    void end_frame();  // `last()` becomes this frame's

    // Path of labels: the frame pushes the pane, section heads set the section until the next one.
    void set_pane(std::string name);
    void set_section(std::string name);
    [[nodiscard]] const std::string& pane() const { return pane_; }
    [[nodiscard]] const std::string& section() const { return section_; }

    // The unique label that a widget of this name gets now; also good as its ImGui id.
    [[nodiscard]] std::string claim(std::string_view name);
    // Records the last ImGui item, or a rectangle of its own, under a claimed label.
    void item(std::string kind, std::string label, std::string value = {},
              std::string why_not = {});
    void area(WidgetRecord record);

    [[nodiscard]] const std::vector<WidgetRecord>& last() const { return last_; }
    [[nodiscard]] const WidgetRecord* find(
        std::string_view label) const;  // in last(); full label or its end

    // A script's "set": given to the widget with this label when it is drawn next.
    void request_set(std::string label, std::string value);
    [[nodiscard]] std::optional<std::string> take_set(std::string_view label);
    [[nodiscard]] bool has_pending_set() const { return pending_label_.has_value(); }
    void refuse_set(std::string why);  // the widget could not take the value
    [[nodiscard]] std::string take_refusal();

    std::string scroll_to;  // label that should be scrolled into view when drawn

  private:
    std::string pane_, section_, refusal_, pending_value_;
    std::optional<std::string> pending_label_;
    std::vector<WidgetRecord> current_, last_;
    std::unordered_map<std::string, int> seen_;
};

// What AFTERIMAGE_DUMP writes: "frame<TAB>N<TAB>workspace", then one widget a line.
[[nodiscard]] std::string dump_text(const Recorder& recorder, uint64_t frame,
                                    std::string_view workspace, float pixels_per_unit);

}  // namespace aft::app
