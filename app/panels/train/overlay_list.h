// "Overlay runs...": the list in which runs are chosen whose curves Train draws too, and the menu
// of a plot by the right button. Window thread, inside a frame.
#pragma once
#include <cstdint>
#include <string>

#include "app/panels/shared/known_runs.h"
#include "app/panels/shared/path_row.h"
#include "app/panels/train/overlay_runs.h"

namespace aft::app {

class OverlayList {
  public:
    void open() { opens_ = true; }  // in the next frame
    // The button, and below it the list while it is open. `runs`: for their colours.
    void draw(PaneContext& ui, const OverlayRuns& runs, bool is_tight);
    // At the pointer; of a plot at this step.
    void open_menu(int64_t step);
    void draw_menu(Ui& ui);

  private:
    void draw_list(PaneContext& ui, const OverlayRuns& runs);
    void draw_row(PaneContext& ui, const OverlayRuns& runs, const std::string& path);
    void draw_path(PaneContext& ui);
    bool opens_ = false, opens_menu_ = false;
    PathRow path_;
    int64_t menu_step_ = 0;
    KnownRuns known_{40};
};

}  // namespace aft::app
