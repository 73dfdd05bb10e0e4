// Palette: finds any action by its name. Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class Palette {
  public:
    void open() { is_open_ = true, is_new_ = true, query_.clear(), chosen_ = 0; }
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void draw_row(Ui& ui, const Action& action, bool chosen);
    bool is_open_ = false, is_new_ = false;
    std::string query_;
    int chosen_ = 0;
};

}  // namespace aft::app
