// FrameTimer: what the frames cost. Window thread.
#pragma once
#include <chrono>
#include <deque>

#include "app/state/draw_context.h"

namespace aft::app {

class FrameTimer {
  public:
    void begin() { start_ = std::chrono::steady_clock::now(); }
    void end(FrameStats& stats);

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::deque<double> times_;  // milliseconds, at most 256
};

}  // namespace aft::app
