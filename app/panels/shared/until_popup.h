// "Run until...": the step, the loss or the time at which training ends, and what stands of it
// beside the buttons. Window thread, inside a frame.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

class UntilPopup {
  public:
    void open(PaneContext& ui);  // at the step; its field gets the keyboard
    void draw(PaneContext& ui);  // below the last item, while it is open

  private:
    void choose(PaneContext& ui, int kind);
    void draw_field(PaneContext& ui);
    void send(PaneContext& ui) const;

    int kind_ = 0;      // of kKinds in the .cpp
    double value_ = 0;  // that its field shows
};

// "until loss 1.2 bits/dim, 30 minutes"; "" where no condition holds.
[[nodiscard]] std::string until_words(const ModelView& ui);
// A button that says them and removes them, on the line of the last control; nothing without any.
void draw_conditions(PaneContext& ui);

}  // namespace aft::app
