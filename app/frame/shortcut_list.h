// ShortcutList: all keys, and what the panes of the workspace show (F1). Window thread, inside a
// frame.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class ShortcutList {
  public:
    void toggle() { is_open_ = !is_open_; }
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display, const std::string& pane_help);

  private:
    bool is_open_ = false;
};

}  // namespace aft::app
