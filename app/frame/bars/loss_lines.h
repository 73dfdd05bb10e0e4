// LossLines: the losses on the timeline's track: of the open run, filled, and of its twins (what it
// did before a rewind), as lines of their own colours in the same range. Window thread, inside a
// frame.
#pragma once
#include <algorithm>
#include <vector>

#include "app/frame/bars/loss_track.h"
#include "app/frame/bars/twin_runs.h"

namespace aft::app {

struct TimelineTrack {
    ImVec2 a, b;
    double last;
    [[nodiscard]] float x(double step) const {
        return a.x + static_cast<float>(std::clamp(step / last, 0.0, 1.0)) * (b.x - a.x);
    }
};

struct LossRange {
    double low = 1e300, high = -1e300;
};

// The track's right end: the target, unless what is `reached` would fill less than a fifth of it;
// then the next of 1, 2, 5, 10, 20, ... that leaves a tenth free.
[[nodiscard]] double track_end(double reached, double target);

class LossLines {
  public:
    void update(PaneContext& ui) { twins_.update(ui); }  // once a frame
    // The step at the track's right end: the target, or where that is far away a round number
    // beyond what the open run and its twins have trained.
    [[nodiscard]] double axis_end(const ModelView& ui) const;
    // handle: the step that is shown.
    void draw(PaneContext& ui, const TimelineTrack& track, double handle);

  private:
    void draw_own(const PaneContext& ui, const TimelineTrack& track, double handle,
                  const LossRange& range);
    void draw_twins(PaneContext& ui, const TimelineTrack& track, const LossRange& range);
    LossTrack own_;
    TwinRuns twins_;
    std::vector<LossTrack> tracks_;  // of the twins
};

}  // namespace aft::app
