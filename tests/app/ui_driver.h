// UiDriver: what a person does to the window, on a stage without a renderer: point, press, drag,
// turn the wheel, type. Every frame is checked: no two items share an ID, and every widget was
// given an id. When the program crashes, or a frame takes minutes, the seed and the last actions
// are printed. Tests only; window thread.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "app/host/stage.h"

namespace aft::app {

class UiDriver {
  public:
    // `stage` may be replaced between two calls.
    UiDriver(std::unique_ptr<BareStage>& stage, uint64_t seed);
    ~UiDriver();
    UiDriver(const UiDriver&) = delete;
    UiDriver& operator=(const UiDriver&) = delete;

    void step(int frames = 1);
    void did(const std::string& what);  // into the trace
    // A click; true if the control, and nothing that lies over it, had the pointer.
    bool press(const WidgetRecord& widget, ImVec2 at, int times = 1, int button = 0);
    void drag(ImVec2 from, ImVec2 to, bool with_shift = false);
    void wheel(ImVec2 at, float turns);
    void type(const std::string& words);  // over what the focused field holds
    void key(const std::string& keys);    // "Ctrl+A", "Enter", ...
    [[nodiscard]] Ui& ui() { return stage_->ui(); }
    // The widget with exactly this id, copied; kind "" = it is not on the screen.
    [[nodiscard]] WidgetRecord find(const std::string& id) const;

    std::function<void()> after_frame = [] {};
    double longest_ms = 0;  // processor time of one frame, and what was done then
    std::string longest_after;
    int64_t frames = 0;

  private:
    std::unique_ptr<BareStage>& stage_;
};

// The seed and the last actions, newest last.
[[nodiscard]] std::string last_actions();

}  // namespace aft::app
