// Recorder: what every widget of the last frame was: kind, label `Pane/Section/Name`, id
// `pane/section/name`, rectangle, value, enabled. Widgets write it, scripts, tests, the tutorial
// and AFTERIMAGE_DUMP read it. Window thread.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/state/widget_name.h"

namespace aft::app {

// Where a widget stands. Both are unique in the frame: a second one of the same name gets "#2".
struct WidgetPath {
    std::string label;   // `Pane/Section/Name`, the words on the screen
    std::string id;      // `pane/section/name`; also its ID in Dear ImGui
    bool has_id = true;  // false: pane, section or name has no id, its words stand for it

    // By the whole label or id, or its end behind a slash.
    [[nodiscard]] bool is(std::string_view name) const;
};

struct WidgetRecord {
    // Button, switch, segment, field, slider, combo, text, row, tab, map, label, ...
    std::string kind;
    WidgetPath path;
    ImVec2 min, max;  // pixels of the display
    std::string value;
    std::string why_not;           // "" = enabled
    bool visible = true;           // false: scrolled out of its pane
    ImGuiID item = 0, window = 0;  // of the item (0: a rectangle of its own) and of its window
    std::string action{};          // id of the action that it runs; "" = none
    std::string tip{};             // "Name: sentence" of its tooltip; "" = it has none
};

// A script's "set NAME VALUE": given to the widget with this label or id when it is drawn next.
class ScriptedValue {
  public:
    void request(std::string name, std::string value);
    [[nodiscard]] std::optional<std::string> take(const WidgetPath& path);
    [[nodiscard]] bool is_pending() const { return name_.has_value(); }
    void refuse(std::string why) { refusal_ = std::move(why); }  // the widget could not take it
    [[nodiscard]] std::string take_refusal() { return std::exchange(refusal_, {}); }

  private:
    std::optional<std::string> name_;
    std::string value_, refusal_;
};

class Recorder {
  public:
    void begin_frame();
    void end_frame();  // `last()` becomes this frame's

    // The frame sets the pane, section heads set the section until the next one.
    void set_pane(WidgetName name);
    void set_section(WidgetName name);

    // The unique path that a widget of this name gets now.
    [[nodiscard]] WidgetPath claim(const WidgetName& name);
    // Records the last ImGui item, or a rectangle of its own, under a claimed path.
    void item(std::string kind, WidgetPath path, std::string value = {}, std::string why_not = {});
    void area(WidgetRecord record);
    void runs_action(std::string id);  // the widget recorded last does

    [[nodiscard]] const std::vector<WidgetRecord>& last() const { return last_; }
    // In last(): by label or id, the end of one, or the id of the action that it runs.
    [[nodiscard]] const WidgetRecord* find(std::string_view name) const;

    ScriptedValue scripted;
    std::string scroll_to;  // label or id that should be scrolled into view when drawn

  private:
    friend const std::string& pane_id(const Recorder& recorder);
    friend void record_tip(Recorder& recorder, ImGuiID item, std::string tip);
    WidgetName pane_, section_;
    std::vector<WidgetRecord> current_, last_;
    std::unordered_map<std::string, int> labels_, ids_;  // how often in this frame
};

// Of the pane that draws now.
[[nodiscard]] const std::string& pane_id(const Recorder& recorder);
// Something on the screen says that it is still being read.
[[nodiscard]] bool is_reading(const std::vector<WidgetRecord>& widgets);

// Of the widget recorded last, if it is this item.
void record_tip(Recorder& recorder, ImGuiID item, std::string tip);

// What AFTERIMAGE_DUMP writes: "frame<TAB>N<TAB>workspace", then one widget a line:
// kind, label, "x y width height", value, "enabled" or "disabled: why", id.
[[nodiscard]] std::string dump_text(const Recorder& recorder, uint64_t frame,
                                    std::string_view workspace, float pixels_per_unit);

}  // namespace aft::app
