// The lines of a plot as they are drawn: smoothed and decimated. Inside viz/curves.cpp only.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "viz/curves.h"

namespace aft::viz {

struct PlotLine {  // one curve, decimated for this frame
    const Curve* curve = nullptr;
    std::vector<PlotPoint> raw, main, low, high;  // main: smoothed, or the curve itself
    // Of the line on top at the right edge: where its label stands, and the label's number.
    double last = std::numeric_limits<double>::quiet_NaN();
    bool has_more = false;  // rows that are averaged in the next frames
};

// Takes from plot.cache what has not changed, and leaves there what it has worked out.
[[nodiscard]] std::vector<PlotLine> make_lines(const CurvePlot& plot, const PlotColumns& cut);

// "validation 0.812", "train 0.713 smoothed"; "" = none.
[[nodiscard]] std::string end_label(const PlotLine& line);

}  // namespace aft::viz
