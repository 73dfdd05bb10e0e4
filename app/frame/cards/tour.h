// Tour: a card that goes from one real control to the next and says what it is for. The controls
// are found by their ids and stay usable. Window thread, inside a frame.
#pragma once
#include <imgui.h>

#include "app/state/ui.h"

namespace aft::app {

class Tour {
  public:
    // From the first stop; opens the demo where no model is open.
    void start(Ui& ui);
    void close() { stop_ = -1; }
    [[nodiscard]] bool is_open() const { return stop_ >= 0; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void go(PaneContext& ui, int stop);
    void draw_card(Ui& ui, ImVec2 display, const WidgetRecord* control);
    int stop_ = -1;
};

void add_tour_actions(Actions& actions, Tour& tour);

}  // namespace aft::app
