// What the pointer reads in line plots: the recorded point of a curve, the hover line with its dots
// and the card of values. Window thread, inside a frame.
#pragma once
#include "viz/curves.h"

namespace aft::viz {

// The last point with a number at or before x, as it was recorded: neither smoothed nor decimated.
[[nodiscard]] std::optional<PlotPoint> point_before(const Curve& curve, double x);

// The one of `xs` (ascending) that is nearest to x; x where there is none.
[[nodiscard]] double nearest(const NumberView& xs, double x);

// Values of the plot's own curves at the point that is nearest to x.
[[nodiscard]] CurveCard own_card(const CurvePlot& plot, double x);

// Between BeginPlot and EndPlot.
void draw_hover_line(const CurvePlot& plot, double x, const Look& look);
struct CardPlace {
    float line = 0, top = 0;  // screen: x of the hover line, upper end of the card
};
// Beside the hover line, over everything else; in columns where the rows do not fit into one.
// After EndPlot.
void draw_card(const CurveCard& card, const CardPlace& place, const Look& look);

// A value beside its curve: large ones without the digits that nobody reads.
[[nodiscard]] std::string curve_number(double value, int decimals);

}  // namespace aft::viz
