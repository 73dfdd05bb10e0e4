// The curves of all slots in one plot each: training and validation in the task's unit. Window
// thread, inside a frame.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "app/panels/compare/compare_slots.h"
#include "viz/curves.h"

namespace aft::app {

class CompareCurves {
  public:
    void draw(PaneContext& ui, const CompareSlots& slots, ImVec2 area);

  private:
    void draw_plot(PaneContext& ui, const CompareSlots& slots, size_t plot, ImVec2 size);
    static void draw_no_curves(PaneContext& ui, const viz::CurvePlot& view, size_t plot,
                               ImVec2 size);
    std::array<viz::CurveCache, 2> caches_;
    std::array<viz::AxisZoom, 2> y_zooms_;
    viz::AxisZoom x_zoom_;
};

}  // namespace aft::app
