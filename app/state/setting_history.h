// SettingHistory: live changes of settings, and of notes at steps (step_notes.h), to take back and
// do again. A drag is one change. Window thread.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace aft::app {

struct SettingChange {
    std::string key, before, after;
    double time = 0;  // of the window's clock, seconds
};

class SettingHistory {
  public:
    static constexpr double kOneDrag = 1;  // seconds between two parts of one change

    void add(SettingChange change);
    [[nodiscard]] bool can_undo() const { return now_ > 0; }
    [[nodiscard]] bool can_redo() const { return now_ < changes_.size(); }
    // What is set next; none where there is nothing.
    [[nodiscard]] std::optional<SettingChange> undo();
    [[nodiscard]] std::optional<SettingChange> redo();

  private:
    std::vector<SettingChange> changes_;
    size_t now_ = 0;  // changes that hold
};

}  // namespace aft::app
