// Which events of a run still say something where they are marked: a setting that was changed and
// given its value back at the same step was not changed. The function is pure; any thread.
#pragma once
#include <memory>
#include <vector>

#include "model/metrics.h"

namespace aft::app {

// In the order of `events`. Left out: changes of a setting together with what took them back, where
// no step lies between; and targets that were set before the first step. Where steps lie between,
// both are of kind "undone", and the text of the change says at which step it was.
[[nodiscard]] std::vector<Event> standing_events(std::vector<Event> events);

// Those of a log, from frame to frame; recomputed when the log is another one. Window thread.
class StandingEvents {
  public:
    [[nodiscard]] const std::vector<Event>& of(const std::shared_ptr<const Curves>& curves) {
        if (curves_ == curves) return events_;
        curves_ = curves;
        events_ = standing_events(curves->events);
        return events_;
    }

  private:
    std::shared_ptr<const Curves> curves_{};
    std::vector<Event> events_{};
};

}  // namespace aft::app
