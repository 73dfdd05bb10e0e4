// Script: actions of the palette and a few of its own (click, set, key, wait, ...), one a line,
// performed through the widgets as a person would. Widgets are named by id, label or action. The
// same for the real window, for pictures and for tests. Window thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/frame/frame.h"

namespace aft::app {

// Limits how long a line of a script waits for a widget that is missing or disabled: some frames,
// and up to two minutes more while the window is still working on what it shows.
class LinePatience {
  public:
    // Returns false when the wait is over. Call it once a frame.
    [[nodiscard]] bool lasts(const Ui& ui);

  private:
    int frames_ = 0;  // in which nothing was worked on
    int64_t missed_ = -1;
    std::optional<std::chrono::steady_clock::time_point> start_{};
};

class Script {
  public:
    struct Tools {
        // Empty: pictures cannot be taken here.
        std::function<void(const std::filesystem::path&)> shot;
    };
    // Throws usage Error with file and line on a line that cannot be understood.
    Script(const std::string& text, std::string name, Tools tools);

    // Before each frame; performs lines until one needs frames. False when the script has ended.
    // Throws with the line on anything that cannot be done.
    bool advance(Frame& frame);
    [[nodiscard]] bool has_ended() const { return at_ >= lines_.size(); }
    [[nodiscard]] int64_t lines_done() const { return static_cast<int64_t>(at_); }

  private:
    struct ScriptLine {
        int number = 0;
        std::string words;
    };
    bool perform(Frame& frame, const ScriptLine& line);
    bool point_at(Frame& frame, const std::string& verb, const std::string& rest);
    void press_keys(const std::string& keys);
    bool perform_own(Frame& frame, const std::string& verb, const std::string& rest);
    void begin_wait(const std::string& rest);
    bool is_waiting(Frame& frame);
    // Why the model that was opened last cannot become ready; "" = it may.
    [[nodiscard]] std::string open_error(const Ui& ui) const;
    bool show_value(Frame& frame, const std::string& id);
    void check_set(Frame& frame);
    [[noreturn]] void stop(const std::string& why) const;

    std::string name_;
    Tools tools_;
    std::vector<ScriptLine> lines_;
    size_t at_ = 0;
    size_t toasts_ = SIZE_MAX;                     // added when a path was opened last; none was
    int frames_ = 0;                               // frames to let pass before the next line
    LinePatience patience_;                        // with what is missing, hidden or disabled
    std::vector<std::function<void()>> gestures_;  // input events of the coming frames, one each
    struct Wait {
        std::string words{};  // "" = none
        double seconds = 0;
        std::optional<std::chrono::steady_clock::time_point> start{};  // of waiting
    } wait_;
    struct Set {  // a value that a widget has not yet taken
        std::string label{}, value{};
        LinePatience patience{};
    } set_;
};

}  // namespace aft::app
