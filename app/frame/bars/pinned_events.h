// The events that have a pin on the timeline: those of the run's log that stand, and every saved
// step. Kept
// from frame to frame, rebuilt when the log or the list of saved steps is another one. Window
// thread; returns at once.
#pragma once
#include <memory>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

class PinnedEvents {
  public:
    // In the order of their steps; valid until the next call.
    [[nodiscard]] const std::vector<Event>& of(const ModelView& ui);

  private:
    std::shared_ptr<const Curves> curves_;  // what events_ were made of
    std::vector<int64_t> saved_;
    bool is_run_ = false;
    std::vector<Event> events_;
};

}  // namespace aft::app
