// Line plots (ImPlot): raw line thin, smoothed on top, band, direct labels at
// the line's end, events, one hover line through all plots of a workspace. Every line is decimated
// to at most two points per pixel column (its minimum and maximum). Window thread.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/number_column.h"
#include "viz/look.h"

namespace aft::viz {

struct PlotPoint {
    double x = 0, y = 0;
    [[nodiscard]] bool operator==(const PlotPoint&) const = default;
};

struct PlotColumns {  // the visible x range, cut into pixel columns
    double low = 0, high = 1;
    int count = 1;
    bool log = false;  // columns of equal width in log x
    [[nodiscard]] bool operator==(const PlotColumns&) const = default;
};

// At most two points per column: minimum and maximum in the order in which they occur; one point
// left and right of the range is kept, so that lines reach the edge. x ascending; NaN in y is left
// out. A view with no more points than columns is returned as it is.
// Of a NumberColumn only about two blocks of rows per pixel column are read.
[[nodiscard]] std::vector<PlotPoint> decimate(NumberView x, NumberView y,
                                              const PlotColumns& columns);
// Exponential average over NaN gaps, corrected at the start; weight 0 = y itself.
[[nodiscard]] std::vector<double> smooth(const NumberView& y, double weight);

struct Curve {
    std::string label{};  // drawn with the value at the line's end, smoothed or not; "" = none
    NumberView x{}, y{};
    NumberView low{}, high{};  // band at 20 %, same length; empty = none
    ImU32 color = 0;
    double smoothing = 0;  // > 0: raw at 38 %, smoothed 2 px on top
    float width = 2;       // 1.5 for other runs
    bool dots = false;     // radius 2.2, for few points (validation)
    int decimals = 3;      // of the last value
};

// What draw_curves has worked out of curves that are columns, kept by the caller, one for each
// plot: a frame then costs O(pixels), and O(new rows) where rows have come, of which it averages
// at most kRowsPerFrame a curve.
struct CurveCache {
    struct CachedCurve {
        NumberColumn x, y;  // as they were
        double smoothing = 0;
        NumberColumn smoothed;
        double sum = 0, norm = 0;  // of the average so far
        PlotColumns cut;
        std::vector<PlotPoint> raw, main;
        [[nodiscard]] bool has_more() const { return smoothing > 0 && smoothed.size() < y.size(); }
    };
    std::vector<CachedCurve> curves;  // in the plot's order
};

struct CurveEvent {
    double x = 0;
    std::string text{};
    ImU32 color = 0;
};

struct AxisZoom {          // kept by the caller
    bool is_user = false;  // false: everything is in view
    double low = 0, high = 1;
};

struct CurveZoom {
    AxisZoom* x = nullptr;  // plots that share one share their x range
    AxisZoom* y = nullptr;  // of one plot alone
};

struct CardRow {
    std::string name{}, value{};
    ImU32 color = 0;
    bool is_head = false;  // names the plot of the rows below it
};

struct CurveCard {
    double x = 0;  // where the hover line stands
    std::string x_word = "step";
    std::vector<CardRow> rows{};
};

struct CurvePlot {
    const char* id = "curves";
    std::string title{}, unit{};  // title 15 SemiBold, unit in text 3 behind it
    std::string x_word = "step";  // first line of the plot's own card
    std::vector<Curve> curves{};
    std::vector<CurveEvent> events{};
    std::vector<double> reach{};  // x that the axis shows besides those of its curves
    ImVec2 size{};                // title included; x <= 0: all there is
    bool log_x = false, log_y = false;
    bool x_labels = true;
    bool zero_line = false;
    // A few values far above all others leave a linear y axis; an arrow says how far they go.
    bool cuts_peaks = false;
    double least_y_span = 0;         // of a linear y axis: what hardly changes is drawn flat
    CurveCache* cache = nullptr;     // nullptr: everything is worked out in each frame
    std::optional<double> marker{};  // shared hover line, in x; set by another plot
    std::optional<double> now{};     // the selected step: accent line
    // What the pointer reads at an x; empty: the recorded values of the plot's own curves.
    std::function<CurveCard(double x)> card{};
    CurveZoom zoom{};  // nullptr: always everything, no zoom
};

struct CurveReply {
    std::optional<double> hovered{};  // x that the card reads: of a recorded point
    std::optional<double> clicked{};
    double x_low = 0, x_high = 0, y_low = 0, y_high = 0;  // shown
    std::optional<PlotPoint> peak{};                      // the largest value that was cut
    bool has_more = false;  // the averages of long curves take more frames (CurveCache)
    bool reset = false;     // a double click asked for everything; the plot's own zooms are gone
};

[[nodiscard]] CurveReply draw_curves(const CurvePlot& plot, const Look& look);

// Bars from 0, one per value; `highlighted` in accent, the others in text 3.
struct BarPlot {
    const char* id = "bars";
    std::span<const double> values{};
    ImVec2 size{};
    int highlighted = -1;
    double top = 0;  // value of a full bar; 0 = the largest one
    bool percent = false;
    bool dimmed = false;  // old values while the new ones are on their way
    // What stands under a bar; empty: its number.
    std::function<std::string(int bar)> name{};
};
struct BarReply {
    int clicked = -1, hovered = -1;
    Box plot;  // every bar has the same part of its width
};
[[nodiscard]] BarReply draw_bars(const BarPlot& plot, const Look& look);

}  // namespace aft::viz
