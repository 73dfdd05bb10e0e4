// LayoutCard: "Layouts...": keeps where the panes of all workspaces stand under a name, in the
// user's settings, and puts them back. Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include <string>

#include "app/state/ui.h"

namespace aft::app {

class LayoutCard {
  public:
    void open() { is_open_ = is_new_ = true; }
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw(Ui& ui, ImVec2 display);
    // Between frames: puts the panes where the chosen layout has them.
    void apply(PaneContext& ui);

  private:
    void draw_rows(Ui& ui, float height);
    void draw_row(DrawContext& ui, const std::string& name);
    void save(Ui& ui);
    bool is_open_ = false, is_new_ = false;
    std::string name_, wanted_, forgotten_;  // wanted_: to be put back; forgotten_: by its button
};

void add_layout_actions(Actions& actions, LayoutCard& card);

}  // namespace aft::app
