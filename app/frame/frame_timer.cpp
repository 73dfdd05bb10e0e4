#include "app/frame/frame_timer.h"

#include <algorithm>
#include <vector>

#include "core/clock.h"

namespace aft::app {

void FrameTimer::end(FrameStats& stats) {
    stats.draw_ms = ms_since(start_);
    ++stats.frames;
    times_.push_back(stats.draw_ms);
    if (times_.size() > 256) times_.pop_front();
    std::vector<double> sorted(times_.begin(), times_.end());
    const size_t at = sorted.size() * 95 / 100;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at),
                     sorted.end());
    stats.p95_ms = sorted[at];
    stats.longest_ms = *std::max_element(times_.begin(), times_.end());
}

}  // namespace aft::app
