// ShortcutList: all keys, what the panes of the workspace show (F1), and other keys for an action.
// Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include <map>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

struct PaneHelp {
    std::string pane, words;
};

class ShortcutList {
  public:
    void toggle();
    [[nodiscard]] bool is_open() const { return is_open_; }
    // The next keys are those of an action: they run nothing.
    [[nodiscard]] bool is_waiting() const { return !changed_.empty(); }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display, const std::vector<PaneHelp>& pane_help);
    // Once, when all actions are there: the keys of the user's settings.
    void take_settings(Ui& ui);

  private:
    void draw_tools(Ui& ui);
    void draw_keys_list(Ui& ui);
    void draw_row(Ui& ui, const Action& action);
    void take_keys(Ui& ui);
    void set(Ui& ui, const std::string& id, const std::string& shortcut);
    bool is_open_ = false;
    int shown_ = 0;                                // with keys, all
    std::string changed_, problem_;                // the action that waits for its keys
    std::map<std::string, std::string> standard_;  // of every action, as it came
};

}  // namespace aft::app
