// Timeline: the track of the run at the foot of the window: loss, pins, saved steps, playback.
// Window thread, inside a frame.
#pragma once
#include "app/frame/bars/loss_lines.h"
#include "app/frame/bars/pinned_events.h"
#include "app/frame/layouts.h"

namespace aft::app {

class Timeline {
  public:
    void draw(Ui& ui, const FrameAreas& areas, ImVec2 display);
    void advance(PaneContext& ui);  // playback: moves the step
    void toggle_play(PaneContext& ui);
    void scrub(ViewState& ui, int direction);  // to the neighbouring stored moment
    void go_live(ViewState& ui) { ui.selection.step = -1, playing_ = false; }
    void go_first(ViewState& ui);

  private:
    void draw_transport(Ui& ui, float height, bool is_small);
    void draw_track(Ui& ui, ImVec2 a, ImVec2 b);
    void draw_live(PaneContext& ui, ImVec2 a, ImVec2 b);
    bool playing_ = false;
    int speed_ = 1;  // index into 0.5, 1, 2, 4
    double next_ = 0;
    int64_t menu_step_ = 0;  // of the menu by the right button
    PinnedEvents pins_;
    LossLines lines_;
};

}  // namespace aft::app
