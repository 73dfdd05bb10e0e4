// Silence: a run that another process trains and that has stopped growing without having ended.
// Window thread.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

class Silence {
  public:
    // Once a frame, when the status is there: sets ModelView::silent_s, and asks for the frames in
    // which it grows.
    void update(PaneContext& ui);

  private:
    int64_t step_ = -1;
    double since_ = 0;  // when it came to that step
};

}  // namespace aft::app
